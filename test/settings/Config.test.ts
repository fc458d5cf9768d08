import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Option, Redacted } from "effect"
import { readFileSync } from "node:fs"
import { names, Settings } from "../../src/settings/Config.ts"
import { format } from "../../src/domain/keys/ApiKeySecret.ts"

const read = (environment: Readonly<Record<string, string>>) =>
  Effect.map(Settings, (settings) => settings).pipe(
    Effect.provide(Layer.provide(Settings.layer, ConfigProvider.layer(ConfigProvider.fromEnv({ env: environment }))))
  )

/** What a setting became, unwrapped, so that it can be compared. */
const plain = (value: unknown): unknown => {
  if (Option.isOption(value)) return Option.isSome(value) ? plain(value.value) : undefined
  if (Array.isArray(value)) return value.map(plain)
  return Redacted.isRedacted(value) ? Redacted.value(value) : value
}
const setting = (name: string, value: string) =>
  Effect.map(read({ [name]: value }), (settings) => plain((settings as Readonly<Record<string, unknown>>)[name]))

const { key } = format(new Uint8Array(16).fill(7), new Uint8Array(32).fill(9))

interface Described {
  readonly fallback: unknown
  readonly valid: ReadonlyArray<readonly [sent: string, read: unknown]>
  readonly invalid: ReadonlyArray<string>
}

/** By running.md; `undefined` is "none". */
const described: Readonly<Record<string, Described>> = {
  HOST: {
    fallback: "127.0.0.1",
    valid: [
      ["0.0.0.0", "0.0.0.0"],
      ["::1", "::1"],
      [" a.example ", "a.example"]
    ],
    invalid: ["a b", "http://a"]
  },
  PORT: {
    fallback: 3000,
    valid: [
      ["0", 0],
      ["65535", 65_535],
      ["8080", 8080]
    ],
    invalid: ["65536", "-1", "80.5", "0x50", "http", "1e3", "٣"]
  },
  PUBLIC_URL: {
    fallback: undefined,
    valid: [
      ["https://api.example.com", "https://api.example.com"],
      ["http://a:80/x/", "http://a:80/x"]
    ],
    invalid: ["api.example.com", "ftp://a", "https://", "http://a b", "https://a/b?x=1", "https://a/b#x", "https://a/?"]
  },
  CORS_ORIGINS: {
    fallback: [],
    valid: [
      ["https://app.example.com", ["https://app.example.com"]],
      ["HTTPS://App.Example.com:443/, http://localhost:5173", ["https://app.example.com", "http://localhost:5173"]],
      ["http://[::1]:3000", ["http://[::1]:3000"]],
      ["*", ["*"]]
    ],
    invalid: [
      "app.example.com",
      "https://a.example/x",
      "https://a.example?x",
      "https://u@a.example",
      "https://*.example.com",
      "https://a.example,",
      "https://a.example:port",
      "ftp://a.example",
      "null"
    ]
  },
  DATA_DIR: {
    fallback: ".data",
    valid: [
      ["/var/lib/waypost", "/var/lib/waypost"],
      ["./a b", "./a b"]
    ],
    invalid: []
  },
  DATABASE_URL: {
    fallback: undefined,
    valid: [
      ["postgres://a:b@c:5432/d", "postgres://a:b@c:5432/d"],
      ["postgresql://c/d", "postgresql://c/d"],
      ["postgres://a:50%25@%2Frun%2Fpg/d?sslmode=verify-full", "postgres://a:50%25@%2Frun%2Fpg/d?sslmode=verify-full"],
      ["postgres://[::1]/d?port=5433&connect_timeout=0", "postgres://[::1]/d?port=5433&connect_timeout=0"]
    ],
    invalid: [
      "mysql://a:hunter2@c/d",
      "a:hunter2@c/d",
      "postgres:hunter2",
      "postgres://a:hunter2@c:notaport/d",
      "postgres://a:hunter2%off@c/d",
      "postgres://a%zz:hunter2@c/d",
      "postgres://a:hunter2@c%zz/d",
      "postgres://a:hunter2@c/d%zz",
      "postgres://a:hunter2@c:0/d",
      "postgres://a:hunter2@c/d?port=none",
      "postgres://a:hunter2@c/d?connect_timeout=soon",
      "postgres://a:hunter2@c/d?sslmode=on"
    ]
  },
  DATABASE_PREPARE: {
    fallback: true,
    valid: [
      ["true", true],
      ["false", false],
      ["FALSE", false]
    ],
    invalid: ["no", "0", "truee"]
  },
  DATABASE_POOL_SIZE: {
    fallback: 10,
    valid: [
      ["1", 1],
      ["100", 100]
    ],
    invalid: ["0", "-3", "many", "1.5"]
  },
  DATABASE_REPLICA_URLS: {
    fallback: [],
    valid: [
      ["postgres://a/b", ["postgres://a/b"]],
      ["postgres://a/b, postgresql://c:5433/d", ["postgres://a/b", "postgresql://c:5433/d"]]
    ],
    invalid: [
      "db-2",
      "postgres://a/b,",
      "mysql://a/b",
      "postgres://a/b,postgres://a:hunter2%off@c/d",
      "postgres://a/b,postgres://a:hunter2@c/d?sslmode=on"
    ]
  },
  REPLICA_MAX_LAG_SECONDS: {
    fallback: 10,
    valid: [
      ["1", 1],
      ["3600", 3600]
    ],
    invalid: ["0", "3601", "1.5", "soon"]
  },
  STORAGE: {
    fallback: "file",
    valid: [
      ["file", "file"],
      ["FILE", "file"]
    ],
    invalid: ["ftp", "azure"]
  },
  S3_ENDPOINT: {
    fallback: undefined,
    valid: [["https://s3.example.com/", "https://s3.example.com"]],
    invalid: ["s3.example.com", "s3://bucket"]
  },
  S3_REGION: { fallback: "us-east-1", valid: [["eu-west-1", "eu-west-1"]], invalid: ["eu west", "https://a"] },
  S3_BUCKET: { fallback: undefined, valid: [["waypost-files", "waypost-files"]], invalid: ["ab", "with space", "a/b"] },
  S3_ACCESS_KEY_ID: { fallback: undefined, valid: [], invalid: [] },
  S3_SECRET_ACCESS_KEY: { fallback: undefined, valid: [], invalid: [] },
  S3_FORCE_PATH_STYLE: {
    fallback: false,
    valid: [
      ["true", true],
      ["False", false]
    ],
    invalid: ["yes", "1"]
  },
  CDN_URL: {
    fallback: undefined,
    valid: [["https://cdn.example.com/", "https://cdn.example.com"]],
    invalid: ["cdn.example.com", "//cdn.example.com", "https://cdn.example.com/?x=1"]
  },
  UPLOAD_MAX_BYTES: {
    fallback: 5 * 1024 ** 3,
    valid: [
      ["1", 1],
      ["10737418240", 10_737_418_240]
    ],
    invalid: ["0", "-1", "5GB", "1.5"]
  },
  UNATTACHED_BYTES_PER_KEY: {
    fallback: undefined,
    valid: [["10737418240", 10_737_418_240]],
    invalid: ["0", "-1", "5GB", "1.5"]
  },
  UPLOAD_BLOCKED_TYPES: {
    fallback: [
      "text/html",
      "application/xhtml+xml",
      "text/javascript",
      "application/javascript",
      "application/x-msdownload",
      "application/x-msdos-program",
      "application/x-msi",
      "application/x-sh",
      "application/x-elf",
      "application/x-mach-binary",
      "application/java-archive",
      "application/vnd.android.package-archive"
    ],
    valid: [["Text/*, image/svg+xml", ["text/*", "image/svg+xml"]]],
    invalid: ["exe", "text/html,,", "text"]
  },
  UPLOAD_BLOCKED_EXTENSIONS: {
    fallback: (
      "exe com scr pif bat cmd msi msp msix msc cpl dll sys drv ocx gadget lnk url scf inf reg ps1 psm1 psd1 vb vbs " +
      "vbe js jse mjs cjs ws wsf wsc wsh sct hta mht mhtml chm jar jnlp apk sh bash zsh ksh csh command run elf " +
      "appimage php phtml phar asp aspx jsp cgi"
    ).split(" "),
    valid: [["EXE, .php", ["exe", "php"]]],
    invalid: ["a-b", "exe,,", "application/x-sh"]
  },
  BOOTSTRAP_API_KEY: {
    fallback: undefined,
    valid: [[key, key]],
    invalid: ["hunter2", `${key}0`, key.slice(0, -1), key.replace("wp_", "xx_")]
  },
  LOCALES: {
    fallback: undefined,
    valid: [
      ["nl", ["nl"]],
      ["NL_nl, de-ch", ["nl-NL", "de-CH"]]
    ],
    invalid: ["nl,xx", "dutch", "nl,,en", ",", "und"]
  },
  RATE_LIMIT_PER_SECOND: {
    fallback: 0,
    valid: [
      ["50", 50],
      ["0", 0]
    ],
    invalid: ["-1", "fast", "0.5"]
  },
  HISTORY_DAYS: {
    fallback: 0,
    valid: [
      ["365", 365],
      ["0", 0]
    ],
    invalid: ["-1", "1.5", "ever", "36501"]
  },
  WEBHOOK_ALLOW_HTTP: { fallback: false, valid: [["true", true]], invalid: ["yes"] },
  WEBHOOK_ALLOW_PRIVATE: { fallback: false, valid: [["true", true]], invalid: ["yes"] },
  GUARD_USER_ROLES: { fallback: false, valid: [["true", true]], invalid: ["yes"] },
  MAX_STREAMS: { fallback: 1000, valid: [["0", 0]], invalid: ["-1", "many"] },
  MAX_IN_FLIGHT: { fallback: 512, valid: [["1", 1]], invalid: ["0", "lots"] },
  KEY_SHARE: {
    fallback: 0.75,
    valid: [
      ["0.5", 0.5],
      [".25", 0.25],
      ["1", 1]
    ],
    invalid: ["0", "1.5", "75%"]
  },
  KEY_WEIGHTS: {
    fallback: new Map(),
    valid: [
      [
        "01936F0E-7c4b-7000-8000-000000000000=2,01936f0e-7c4b-7000-8000-000000000001=0.5",
        new Map([
          ["01936f0e-7c4b-7000-8000-000000000000", 2],
          ["01936f0e-7c4b-7000-8000-000000000001", 0.5]
        ])
      ]
    ],
    invalid: ["2", "01936f0e-7c4b-7000-8000-000000000000", "01936f0e-7c4b-7000-8000-000000000000=0"]
  },
  WORKERS: {
    fallback: 1,
    valid: [
      ["0", 0],
      ["4", 4]
    ],
    invalid: ["-1", "all", "257"]
  },
  DRAIN_SECONDS: { fallback: 0, valid: [["10", 10]], invalid: ["-1", "10s"] },
  METRICS_TOKEN: { fallback: undefined, valid: [["hunter2hunter2", "hunter2hunter2"]], invalid: ["hunter2"] },
  LOG_LEVEL: {
    fallback: "Info",
    valid: [
      ["debug", "Debug"],
      ["WARN", "Warn"],
      ["none", "None"]
    ],
    invalid: ["verbose", "all", "1"]
  },
  LOG_FORMAT: {
    fallback: "auto",
    valid: [
      ["json", "json"],
      ["Pretty", "pretty"],
      ["auto", "auto"]
    ],
    invalid: ["xml"]
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    fallback: undefined,
    valid: [["http://127.0.0.1:4318", "http://127.0.0.1:4318"]],
    invalid: ["localhost:4318", "grpc://a", "https://user:secret@otlp.example.com"]
  }
}
const secret = new Set(["DATABASE_URL", "DATABASE_REPLICA_URLS", "BOOTSTRAP_API_KEY", "METRICS_TOKEN"])
const each = Object.entries(described)
const valid = each.flatMap(([name, { valid }]) => valid.map(([sent, expected]) => [name, sent, expected] as const))
const invalid = each.flatMap(([name, { invalid }]) => invalid.map((sent) => [name, sent] as const))

describe("the settings", () => {
  it("the settings are those of running.md, and those of the example file, in its order", () => {
    assert.sameMembers(names, Object.keys(described))
    const example = readFileSync(new URL("../../.env.example", import.meta.url), "utf8")
    assert.deepStrictEqual(
      example.split("\n").flatMap((line) => /^([A-Z][A-Z0-9_]+)=/.exec(line)?.[1] ?? []),
      names
    )
  })

  it.effect("the settings have defaults that work on one machine", () =>
    Effect.gen(function* () {
      const settings = yield* read({})
      const actual = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, plain(value)]))
      assert.deepStrictEqual(actual, Object.fromEntries(each.map(([name, { fallback }]) => [name, fallback])))
    })
  )

  it.effect("the settings are the defaults where a variable is empty or blank, and in the example file", () =>
    Effect.gen(function* () {
      const defaults = yield* read({})
      const example = readFileSync(new URL("../../.env.example", import.meta.url), "utf8")
      const file = Object.fromEntries(
        example
          .split("\n")
          .flatMap((line) => (/^[A-Z0-9_]+=/.test(line) ? [line.split("=", 2) as [string, string]] : []))
      )
      assert.deepStrictEqual(yield* read(Object.fromEntries(names.map((name) => [name, ""]))), defaults)
      assert.deepStrictEqual(yield* read(Object.fromEntries(names.map((name) => [name, "  "]))), defaults)
      assert.deepStrictEqual(yield* read(file), defaults)
    })
  )

  it.effect.each(valid)("%s takes %s", ([name, sent, expected]) =>
    Effect.map(setting(name, sent), (value) => assert.deepStrictEqual(value, expected))
  )

  it.effect("that are secrets do not show in a printed configuration", () =>
    Effect.gen(function* () {
      const settings = yield* read({
        DATABASE_URL: "postgres://a:hunter2@c/d",
        DATABASE_REPLICA_URLS: "postgres://a:hunter2@e/f",
        METRICS_TOKEN: "hunter2hunter2",
        BOOTSTRAP_API_KEY: key
      })
      assert.notInclude(`${JSON.stringify(settings)} ${String(settings.DATABASE_URL)}`, "hunter2")
      assert.notInclude(JSON.stringify(settings), key)
    })
  )
})

describe("a setting that cannot be read", () => {
  it.effect.each(invalid)("%s rejects %s and names the variable, the problem and an example", ([name, sent]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(setting(name, sent))
      assert.strictEqual(error._tag, "SettingsError")
      const problem = /^(\w+): (.+?) is not (.+)\. For example: (\w+)=(.+)$/s.exec(error.message)
      assert.isNotNull(problem, error.message)
      const [, variable, shown, expected, exampleOf] = problem
      assert.deepStrictEqual([variable, exampleOf], [name, name])
      assert.strictEqual(shown, secret.has(name) ? "The value" : `"${sent}"`)
      assert.isAbove(expected!.length, 5)
      if (secret.has(name)) assert.notInclude(error.message, sent)
      assert.notInclude(error.message, "hunter2")
    })
  )

  it.effect.each([...new Set(invalid.map(([name]) => name))])("the example for %s is valid", (name) =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(setting(name, described[name]!.invalid[0]!))
      const example = message.slice(message.indexOf(`${name}=`) + name.length + 1)
      assert.isDefined(yield* setting(name, example))
    })
  )

  it.effect(
    "the example for BOOTSTRAP_API_KEY has random bytes, because a copied one becomes a key with every permission",
    () =>
      Effect.gen(function* () {
        const { message } = yield* Effect.flip(setting("BOOTSTRAP_API_KEY", "hunter2"))
        assert.match(message, /=wp_\w{22}_\w{43}\w{6}$/)
        // The key of zeros was the example of all installations.
        assert.notMatch(message, /=wp_0{22}_|_0{43}/)
      })
  )

  it.effect("settings that cannot be read are all reported at once", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(read(Object.fromEntries(invalid.toReversed())))
      const reported = message.split("\n").map((line) => line.split(":")[0])
      assert.deepStrictEqual(
        reported,
        names.filter((name) => described[name]!.invalid.length > 0)
      )
    })
  )

  it.effect("reports settings that contradict each other", () =>
    Effect.gen(function* () {
      const bucket = yield* Effect.flip(read({ STORAGE: "s3" }))
      assert.match(bucket.message, /^S3_BUCKET: STORAGE=s3 needs a bucket\. For example: S3_BUCKET=/)
      assert.strictEqual((yield* read({ STORAGE: "s3", S3_BUCKET: "files" })).STORAGE, "s3")
      for (const half of [{ S3_ACCESS_KEY_ID: "id" }, { S3_SECRET_ACCESS_KEY: "hunter2" }]) {
        const { message } = yield* Effect.flip(read({ STORAGE: "s3", S3_BUCKET: "files", ...half }))
        assert.match(message, /^S3_ACCESS_KEY_ID: .+S3_SECRET_ACCESS_KEY/)
        assert.notInclude(message, "hunter2")
      }
      const unattached = yield* Effect.flip(read({ UPLOAD_MAX_BYTES: "1000", UNATTACHED_BYTES_PER_KEY: "999" }))
      assert.match(unattached.message, /^UNATTACHED_BYTES_PER_KEY: 999 bytes .+ UNATTACHED_BYTES_PER_KEY=20000$/)
      const many = { WORKERS: "64", DATABASE_POOL_SIZE: "100" }
      const { message } = yield* Effect.flip(read(many))
      assert.match(
        message,
        /^DATABASE_POOL_SIZE: 64 processes \(WORKERS\) with 100 connections each are 6400, .+ 5000\./
      )
      assert.strictEqual((yield* read({ ...many, DATABASE_URL: "postgres://db.example.com/waypost" })).WORKERS, 64)
    })
  )

  it.effect("settings that cannot be read are reported with the variables that look like misspelt settings", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(read({ STORAGE: "s3", S3_BUCKETT: "files", HOME: "/root", PORTAL: "x" }))
      const [problem, ...hints] = message.split("\n")
      assert.match(problem!, /^S3_BUCKET: STORAGE=s3 needs a bucket/)
      assert.deepStrictEqual(hints, ["S3_BUCKETT is not a setting; did you mean S3_BUCKET?"])
    })
  )
})
