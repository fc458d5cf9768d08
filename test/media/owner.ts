import { NodeRuntime } from "@effect/platform-node"
import { Effect } from "effect"
import { Renderer } from "../../src/media/Renderer.ts"
import { preview, rendererLayer } from "./Rendering.ts"

// A process that renders the file of its arguments.
const [, , path = "", mimeType = ""] = process.argv

NodeRuntime.runMain(
  Effect.flatMap(Renderer, (renderer) => renderer.render({ path, mimeType }, preview)).pipe(
    Effect.provide(rendererLayer())
  )
)
