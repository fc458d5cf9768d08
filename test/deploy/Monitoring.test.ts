import { assert, layer } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Metrics from "../../src/http/transport/Metrics.ts"
import { gaugesOf } from "../../src/sql/connections/Replicas.ts"
import { layer as listening, Wire } from "../support/wire/Wire.ts"

const live = { excludeTestServices: true }
const root = join(import.meta.dirname, "../..")
const read = (file: string) => readFileSync(join(root, file), "utf8")
const sorted = (names: Iterable<string>) => [...new Set(names)].toSorted()

/** Labels that Prometheus adds, and the limits of the buckets of a histogram. */
const added = new Set(["job", "instance", "le"])

interface Exposed {
  readonly names: ReadonlyArray<string>
  readonly labels: ReadonlyArray<string>
}

/** The metrics of a response of `/metrics`, as `name{label,…}`, and their series with the suffixes of histograms. */
const exposedBy = (text: string): Exposed & { readonly series: ReadonlyArray<string> } => {
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!)
  const samples = [...text.matchAll(/^([a-z_]+)(?:\{(.*)\})? /gm)].map(([, name = "", labels = ""]) => ({
    name,
    labels: [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label!)
  }))
  return {
    names: sorted(names),
    series: sorted(samples.map(({ name }) => name)),
    labels: sorted(samples.flatMap(({ labels }) => labels).filter((label) => !added.has(label)))
  }
}

/** A response of `/metrics` after an answered request and a call of a deprecated operation. */
const scrape = Effect.gen(function* () {
  const { send } = yield* Wire
  yield* send("GET", "/v1/locations")
  yield* Metrics.makeDeprecatedCounter()("locations.list", "key")
  const { lag, up } = gaugesOf("db-2")
  yield* Effect.all([Metric.update(up, 1), Metric.update(lag, 0)])
  return exposedBy((yield* send("GET", "/metrics", { key: null })).text)
})

/** The rows of the table of metrics in the guide. */
const documented = (): Exposed => {
  const rows = [...read("docs/monitoring.md").matchAll(/^\| `((?:http|process|nodejs|waypost)_\w+)` \| (.*?) \|/gm)]
  return {
    names: sorted(rows.map(([, name]) => name!)),
    labels: sorted(rows.flatMap(([, , labels]) => [...labels!.matchAll(/`(\w+)`/g)].map(([, label]) => label!)))
  }
}

/** The queries of the dashboard, and the rules without their comments. */
const queries = {
  "deploy/grafana.json": () =>
    [...read("deploy/grafana.json").matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g)].map(([, text]) =>
      String(JSON.parse(text!))
    ),
  "deploy/alerts.yml": () =>
    read("deploy/alerts.yml")
      .replaceAll(/^\s*#.*$/gm, "")
      .split(/\bexpr:/)
      .slice(1)
      .map((rule) => rule.split(/^\s+(?:for|labels):/m)[0]!)
}

/** The files of the source that declare metrics. */
const declared = () =>
  readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) =>
      [...read(`src/${file}`).matchAll(/Metric\.(?:gauge|counter|histogram|summary|frequency|timer)\(\s*"(\w+)"/g)].map(
        ([, name]) => name!
      )
    )

layer(listening(), live)("monitoring", (it) => {
  it.effect("the guide has every metric and label of a running service, and no others", () =>
    Effect.gen(function* () {
      const { labels, names } = yield* scrape
      assert.deepStrictEqual(documented(), { names, labels })
    })
  )

  it.effect("a running service exposes every metric that the source declares", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* scrape).names, sorted(declared()))
    })
  )

  for (const [file, read] of Object.entries(queries)) {
    it.effect(`${file} uses only metrics and labels of a running service`, () =>
      Effect.gen(function* () {
        const { labels, series } = yield* scrape
        const all = read()
        assert.isAbove(all.length, 10)
        const metrics = all.flatMap((query) => [...query.matchAll(/([a-z_]+)(?:\{| offset)/g)].map(([, name]) => name!))
        const used = all.flatMap((query) => [
          ...[...query.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label]) => label!),
          ...[...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(/,\s*/))
        ])
        assert.deepStrictEqual(
          sorted(metrics).filter((name) => name !== "up" && !series.includes(name)),
          []
        )
        assert.deepStrictEqual(
          sorted(used).filter((name) => !added.has(name) && !labels.includes(name)),
          []
        )
        // Every query has a metric.
        assert.deepStrictEqual(
          all.filter((query) => !/[a-z_]+\{/.test(query)),
          []
        )
      })
    )
  }

  it.effect("both proxies hide every path at which the service answers with its metrics", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const paths = ["/metrics", "/metrics/", "/metrics?x", "/%6detrics", "//metrics", "/metrics//", "/metrics%2f"]
      const statuses = yield* Effect.forEach(paths, (path) => send("GET", path, { key: null }))
      const answered = paths.filter((_, index) => statuses[index]!.status === 200)
      assert.deepStrictEqual(answered, paths.slice(0, 4))
      const [, pattern = ""] = /location ~ (\S*metrics\S*) \{ return 404; \}/.exec(read("deploy/nginx.conf")) ?? []
      const [, hidden = ""] = /@metrics path (.*)/.exec(read("deploy/Caddyfile")) ?? []
      for (const path of answered) {
        // Both proxies compare what is left of a path without its query and encoding.
        const plain = decodeURIComponent(path).replace(/\?.*/, "")
        assert.match(plain, new RegExp(pattern), path)
        assert.include(hidden.split(" "), plain, path)
      }
    })
  )

  it.effect("the guide has every alert with its severity, and no others", () =>
    Effect.sync(() => {
      const alerts = [...read("deploy/alerts.yml").matchAll(/- alert: (\w+)[^]*?severity: (\w+)/g)]
      const rows = [...read("docs/monitoring.md").matchAll(/^\| `(Waypost\w+)` \| (\w*)/gm)]
      const shown = (found: ReadonlyArray<RegExpExecArray>) => found.map(([, name, severity]) => `${name} ${severity}`)
      assert.deepStrictEqual(shown(rows), shown(alerts))
    })
  )
})
