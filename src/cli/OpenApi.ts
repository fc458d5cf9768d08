import { Console, Effect, FileSystem } from "effect"
import { Command, Flag } from "effect/cli"
import { fileURLToPath } from "node:url"
import { openApi } from "../api/Api.ts"
import { CommandError } from "./Failures.ts"

const file = fileURLToPath(new URL("../../openapi.json", import.meta.url))

/** `waypost openapi` */
export const command = Command.make(
  "openapi",
  {
    check: Flag.Boolean("check").pipe(
      Flag.withDescription("Only check that the file matches the definition"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ check }) {
    const fs = yield* FileSystem.FileSystem
    const document = `${JSON.stringify(openApi(), null, 2)}\n`
    if (!check) return yield* fs.writeFileString(file, document)
    if ((yield* fs.readFileString(file)) !== document) {
      return yield* new CommandError({ message: "openapi.json differs from the definition; run: npm run openapi" })
    }
    yield* Console.log("openapi.json matches the definition")
  })
).pipe(Command.withDescription("Write openapi.json, the description of the API"))
