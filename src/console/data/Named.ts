import DataLoader from "dataloader"
import definition from "virtual:definition"
import type { WaypostClient } from "../../client/promise/PromiseClient.ts"
import type { Resource } from "../definition/Definition.ts"
import type { Json } from "../../domain/schema/Json.ts"
import { call, type Page, selected, uuidOf } from "./Calls.ts"
import * as Filters from "./Filters.ts"

const isUuid = (text: string) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)

/** Reads the names of the records that a form refers to: one list reads those that are asked for at the same time. */
export const make = (client: WaypostClient) => {
  const read = async (resource: Resource, uuids: ReadonlyArray<string>) => {
    const filter = Filters.print([{ field: "uuid", operator: "in", values: uuids }])
    const fields = resource.hasSelection ? selected([resource.label]) : undefined
    const { data } = await call<Page>(client, resource.actions.list!, {
      filter,
      fields,
      limit: definition.maxValues,
      total: false
    })
    const found = new Map(data.map((record) => [uuidOf(record), record]))
    return uuids.map((uuid) => found.get(uuid.toLowerCase()))
  }
  const loaders = new Map<string, DataLoader<string, Json | undefined>>()
  return (resource: Resource, uuid: string): Promise<Json | undefined> => {
    if (!isUuid(uuid)) return Promise.resolve(undefined)
    const loader =
      loaders.get(resource.name) ??
      new DataLoader((uuids) => read(resource, uuids), { maxBatchSize: definition.maxValues, cache: false })
    loaders.set(resource.name, loader)
    return loader.load(uuid)
  }
}
