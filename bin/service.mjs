import "./requireNode.mjs"
import { pathToFileURL } from "node:url"
import { fileOf } from "./program.mjs"

await import(pathToFileURL(fileOf("main")).href)
