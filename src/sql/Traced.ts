import { type Context, Effect } from "effect"

/**
 * The methods of a service, each with a span such as `Locations.update` while spans are exported. `Effect.fn` takes a
 * stack trace at each call even when they are not, which costs 16 us of a PATCH.
 */
export const traced = <Self, Shape extends object>(
  service: Context.Key<Self, Shape>,
  methods: NoInfer<Shape>
): NoInfer<Shape> => {
  const name = service.key.slice(service.key.lastIndexOf("/") + 1)
  return new Proxy(methods, {
    get: (target, member) => spanned(`${name}.${String(member)}`, Reflect.get(target, member))
  })
}

const spanned = (name: string, value: unknown): unknown => {
  if (typeof value === "function") return (...args: ReadonlyArray<unknown>) => spanned(name, value(...args))
  if (!Effect.isEffect(value)) return value
  return Effect.withFiber((fiber) =>
    fiber.cache.tracerEnabled ? Effect.withSpan(value, name, { captureStackTrace: false }) : value
  )
}
