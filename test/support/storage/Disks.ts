import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { temporaryFolder } from "./Folder.ts"

const mount = (folder: string) =>
  process.getuid?.() === 0 && spawnSync("/bin/mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", folder]).status === 0

const unmount = (folder: string) => spawnSync("/bin/umount", ["--lazy", folder])

/** Whether this process may mount a file system. */
const canMount = (() => {
  const folder = mkdtempSync(join(tmpdir(), "waypost-mount-"))
  const mounted = mount(folder)
  if (mounted) unmount(folder)
  rmSync(folder, { recursive: true, force: true })
  return mounted
})()

const errors = { ENOSPC: "no space left on device", EIO: "i/o error" }

/** Makes a file operation fail with a disk error whenever `when` returns true; the operation waits for it. */
export const failing = <Name extends "writeFile" | "sync">(
  name: Name,
  code: keyof typeof errors,
  when: (handle: FileHandle, ...args: Parameters<FileHandle[Name]>) => boolean | Promise<boolean>
) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const handle = await open(import.meta.filename)
      const prototype = Object.getPrototypeOf(handle) as Record<string, (...args: Array<unknown>) => Promise<unknown>>
      await handle.close()
      const original = prototype[name]!
      prototype[name] = async function (this: FileHandle, ...args) {
        if (!(await when(this, ...(args as Parameters<FileHandle[Name]>)))) return original.apply(this, args)
        throw Object.assign(new Error(`${code}: ${errors[code]}`), { code })
      }
      return () => void (prototype[name] = original)
    }),
    (restore) => Effect.sync(restore)
  )

/** What `smallDisk` is in this run, for test titles. */
export const smallDiskIs = canMount
  ? "a tmpfs of 2 MB"
  : "writes that fail beyond 1 MB, because mounting is not permitted"

/** A folder on a disk that cannot hold 3 MB in total. */
export const smallDisk = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  if (canMount) {
    yield* Effect.acquireRelease(
      Effect.sync(() => mount(folder)),
      () => Effect.sync(() => unmount(folder))
    )
    return folder
  }
  const written = new WeakMap<FileHandle, number>()
  yield* failing("writeFile", "ENOSPC", (handle, bytes) => {
    const size = (written.get(handle) ?? 0) + (bytes as Uint8Array).length
    written.set(handle, size)
    return size > 1_000_000
  })
  return folder
})
