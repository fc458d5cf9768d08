import "./requireNode.mjs"
import { pathToFileURL } from "node:url"
import { fileOf } from "./program.mjs"

// All files of a process share these threads: with the four of Node, as many slow flushes hold up every other file. Set before
// anything is read by one, which fixes their number. Workers inherit it.
process.env.UV_THREADPOOL_SIZE ??= "16"

await import(pathToFileURL(fileOf("main")).href)
