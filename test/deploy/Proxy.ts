import { execFileSync, spawn } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { Agent, request } from "node:https"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { own } from "../support/Children.ts"
import { freePort, until } from "../support/Process.ts"
import { key } from "../support/Service.ts"

const root = join(import.meta.dirname, "../..")

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly bytes: Buffer
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- the tests look inside, and an assertion shows what is missing
  readonly body: any
}

export interface Proxy extends AsyncDisposable {
  readonly url: string
  /** Its configuration and what it caches. */
  readonly folder: string
  /** Where the proxy keeps bodies that it buffers. */
  readonly buffers: string
  /** What the proxy printed, which includes its errors. */
  readonly output: () => string
  readonly send: (
    method: string,
    path: string,
    body?: string | Buffer,
    headers?: Readonly<Record<string, string>>
  ) => Promise<Answer>
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The configuration of `deploy`, with the addresses of a test in place of those of the example. */
const configured = (file: string, replacements: ReadonlyArray<readonly [from: string, to: string]>) =>
  replacements.reduce(
    (text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`deploy/${file} has no ${from}`)
      return text.replaceAll(from, to)
    },
    readFileSync(join(root, "deploy", file), "utf8")
  )

interface Place {
  readonly folder: string
  readonly port: number
  /** Ports of the service. */
  readonly backends: ReadonlyArray<number>
}

const address = "localhost"

/** Writes a configuration for nginx and returns the command that runs it. */
const nginxWith = (folder: string, text: string) => {
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${join(folder, name === "client_body" ? "buffers" : name)};`
  )
  writeFileSync(join(folder, "waypost.conf"), text)
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; pid ${join(folder, "pid")}; env FAKETIME; error_log stderr warn; events {}\n` +
      `http { access_log off; ${paths.join(" ")} include ${join(folder, "waypost.conf")}; }\n`
  )
  const command = ["nginx", "-e", "stderr", "-c", join(folder, "nginx.conf")]
  execFileSync(command[0]!, [...command.slice(1), "-t"], { stdio: "pipe" })
  return command
}

const certificateOf = (folder: string, name: string) =>
  [
    [`/etc/letsencrypt/live/${name}/fullchain.pem`, join(folder, "cert.pem")],
    [`/etc/letsencrypt/live/${name}/privkey.pem`, join(folder, "key.pem")]
  ] as const

/** nginx in front of two instances. */
const nginx = async ({ backends, folder, port }: Place) =>
  nginxWith(
    folder,
    configured("nginx.conf", [
      ["listen 443 ssl http2;", `listen 127.0.0.1:${port} ssl http2;`],
      ["listen 80;", `listen 127.0.0.1:${await freePort()};`],
      ...certificateOf(folder, "waypost.example.com"),
      ["waypost.example.com", address],
      ["127.0.0.1:3000", `127.0.0.1:${backends[0]}`],
      ["127.0.0.1:3001", `127.0.0.1:${backends[1]}`]
    ])
  )

/** nginx as a cache of the files of one instance, which it reads without TLS. */
const cdn = ({ backends, folder, port }: Place) =>
  nginxWith(
    folder,
    configured("cdn.conf", [
      ["listen 443 ssl http2;", `listen 127.0.0.1:${port} ssl http2;`],
      ...certificateOf(folder, "cdn.example.com"),
      ["cdn.example.com", address],
      ["server waypost.example.com:443", `server 127.0.0.1:${backends[0]}`],
      ["https://waypost_origin", "http://waypost_origin"],
      ["/var/cache/nginx/waypost", join(folder, "cache")]
    ])
  )

/** Writes the configuration of Caddy and returns its command. */
const caddy = ({ backends, folder, port }: Place) => {
  const text = configured("Caddyfile", [
    [
      "{$WAYPOST_SITE:waypost.example.com} {",
      `https://${address}:${port} {\n\ttls ${folder}/cert.pem ${folder}/key.pem`
    ],
    ["{$WAYPOST_NODES:127.0.0.1:3000 127.0.0.1:3001}", backends.map((backend) => `127.0.0.1:${backend}`).join(" ")]
  ])
  const file = join(folder, "Caddyfile")
  writeFileSync(
    file,
    `{\n\tadmin off\n\tauto_https disable_redirects\n\tlog {\n\t\tlevel DEBUG\n\t\texclude http.stdlib\n\t}\n}\n${text}`
  )
  return ["caddy", "run", "--adapter", "caddyfile", "--config", file]
}

/** The library of Debian's `faketime`. */
const faketime = `/usr/lib/${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu/faketime/libfaketime.so.1`

/** The commands of the configurations in `deploy`. */
const commands = { nginx, cdn, caddy }

/**
 * Starts a proxy with its configuration of `deploy` and a certificate of its own. `ahead` sets its clock forward, such as
 * "+1h", and `folder` is that of a proxy before it, with what that one cached.
 */
export const start = async (
  program: keyof typeof commands,
  port: number,
  backends: ReadonlyArray<number>,
  { ahead, folder: given }: { readonly ahead?: string; readonly folder?: string } = {}
) => {
  await using stack = new AsyncDisposableStack()
  const folder = given ?? mkdtempSync(join(tmpdir(), `waypost-${program}-`))
  if (given === undefined) stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o755)
  mkdirSync(join(folder, "buffers"), { recursive: true })
  const [keyFile, certificate] = [join(folder, "key.pem"), join(folder, "cert.pem")]
  const subject = ["-subj", `/CN=${address}`, "-addext", `subjectAltName=DNS:${address}`]
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
  execFileSync("openssl", ["req", "-x509", ...curve, ...subject, "-keyout", keyFile, "-out", certificate], {
    stdio: "pipe"
  })
  const command = await commands[program]({ folder, port, backends })
  const env = {
    ...(ahead === undefined ? {} : { LD_PRELOAD: faketime, FAKETIME: ahead }),
    PATH: process.env["PATH"],
    HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder
  }
  const child = spawn(command[0]!, command.slice(1), { env, stdio: ["ignore", "pipe", "pipe"] })
  let output = ""
  child.stdout.on("data", (chunk) => (output += String(chunk)))
  child.stderr.on("data", (chunk) => (output += String(chunk)))
  const { stop } = own(child)
  stack.defer(async () => void (await stop()))
  const listens = () =>
    new Promise<boolean>((resolve, reject) => {
      if (child.exitCode !== null) reject(new Error(`${program} ended:\n${output}`))
      const socket = connect(port, "127.0.0.1", () => resolve(true))
      socket.on("connect", () => socket.destroy()).on("error", () => resolve(false))
    })
  await until(`${program} listens`, listens)

  const agent = new Agent({ ca: readFileSync(certificate), family: 4 })
  const send: Proxy["send"] = (method, path, body, headers) =>
    new Promise((resolve, reject) => {
      const json = typeof body === "string" ? { "content-type": "application/json" } : {}
      const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }
      const sent = request(
        new URL(path, `https://${address}:${port}`),
        { method, agent, headers: { authorization: key, ...json, ...length, ...headers } },
        (response) => {
          const chunks: Array<Buffer> = []
          response.on("data", (chunk: Buffer) => chunks.push(chunk))
          response.on("error", reject)
          response.on("end", () => {
            const bytes = Buffer.concat(chunks)
            const text = bytes.toString("utf8")
            resolve({ status: response.statusCode!, headers: response.headers, bytes, text, body: parse(text) })
          })
        }
      )
      sent.on("error", reject)
      sent.end(body)
    })
  const disposal = stack.move()
  return {
    url: `https://${address}:${port}`,
    folder,
    buffers: join(folder, "buffers"),
    send,
    output: () => output,
    [Symbol.asyncDispose]: () => disposal.disposeAsync()
  } satisfies Proxy
}
