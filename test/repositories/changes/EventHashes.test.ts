import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import { Sql } from "../../../src/sql/Sql.ts"
import * as Postgres from "../../support/Postgres.ts"
import { settings } from "../../support/TestServer.ts"

const salt = Buffer.from("000102030405060708090a0b0c0d0e0f", "hex")

/** The values of an event, and their text that its digest covers. */
const digested = [
  { label: null, before: null, after: null, links: null, text: "[null, null, null, null]" },
  {
    label: 'Café "De Vries" \\ 😀\n',
    before: null,
    after: '{"b": 1, "aa": null, "a": [1.50, {"x": "é\\t"}]}',
    links: null,
    text: '["Café \\"De Vries\\" \\\\ 😀\\n", null, {"a": [1.50, {"x": "é\\t"}], "b": 1, "aa": null}, null]'
  },
  {
    label: "",
    before: "{}",
    after: "null",
    links: '[{"path": "users", "removed": [], "added": ["u"]}]',
    text: '["", {}, null, [{"path": "users", "added": ["u"], "removed": []}]]'
  }
]

layer(Postgres.sql.pipe(Layer.provideMerge(settings())), { excludeTestServices: true })(
  "what the hashes of the log cover",
  (it) => {
    it.effect.each(digested)("the hash covers the salt and $text for the values of an event", ({ text, ...values }) =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const [row] = yield* pooled<{ readonly digest: string }>`
        select encode(waypost_event_digest(decode(${salt.toString("hex")}, 'hex'), ${values.label}::text, ${values.before}::jsonb,
          ${values.after}::jsonb, ${values.links}::jsonb), 'hex') as digest`
        const salted = Buffer.concat([salt, Buffer.from(text)])
        assert.strictEqual(row!.digest, createHash("sha256").update(salted).digest("hex"))
      })
    )

    it.effect("the hash covers the position, the ids, the kind, the times and the actor for the rest", () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const [id, record] = ["01890a5d-ac96-774b-bcce-b302099a8057", "01890a5d-ac96-774b-8cce-b302099a8058"]
        const [row] = yield* pooled<{ readonly text: string }>`
        select convert_from(waypost_event_text(7, ${id}::uuid, 'location', 'created', ${record}::uuid,
          '2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.679Z', '{"type": "apiKey", "name": "\\"é\\""}'), 'UTF8') as text`
        assert.strictEqual(
          row!.text,
          `[7, "${id}", "location", "created", "${record}", 1767323045678, 1767323045679, {"name": "\\"é\\"", "type": "apiKey"}]`
        )
      })
    )
  }
)

layer(Postgres.limited.pipe(Layer.provideMerge(settings())), { excludeTestServices: true })(
  "the links of a change",
  (it) => {
    it.effect("to 40,000 records are merged within the time of a statement", () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const [row] = yield* pooled<{ readonly same: boolean }>`
        select waypost_merge_links(array[jsonb_build_object('path', 'groups', 'added', added, 'removed', '[]'::jsonb)])
          = jsonb_build_array(jsonb_build_object('path', 'groups', 'added', added, 'removed', '[]'::jsonb)) as same
        from (select jsonb_agg(lpad(i::text, 36, '0')) as added from generate_series(1, 40000) i) listed`
        assert.isTrue(row!.same)
      })
    )
  }
)
