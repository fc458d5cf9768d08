import { Console, Effect, Option } from "effect"
import { Command } from "effect/cli"
import { optionalText } from "../CommonFlags.ts"
import { type Anchor, verify as verifyLog } from "../../repositories/changes/Verification.ts"
import { maintenanceClient } from "../../sql/connections/Maintenance.ts"
import * as Database from "../Database.ts"
import { CommandError } from "../Failures.ts"
import * as Progress from "../Progress.ts"

/** Problems that are printed. */
const maxShown = 100

const format = ({ hash, position }: Anchor) => `${position}:${hash}`

/** A place in the log as `audit verify` printed it. */
const parse = (text: string) => {
  const [, position, hash] = /^(\d{1,15}):([0-9a-f]{64}|)$/.exec(text) ?? []
  return position === undefined || hash === undefined
    ? Effect.fail(
        new CommandError({
          message: `--from-hash: Expected what an earlier run printed, such as 1042:3f…, not ${text}`
        })
      )
    : Effect.succeed({ position: Number(position), hash })
}

const verify = Command.make(
  "verify",
  {
    from: optionalText(
      "from-hash",
      "The last line of an earlier run: verifies that the log still has it, and the events that came after it"
    )
  },
  Effect.fnUntraced(function* ({ from }) {
    yield* Database.printInstallation
    const anchor = Option.isSome(from) ? yield* parse(from.value) : undefined
    const { seconds, value } = yield* Progress.timed(Effect.provide(verifyLog(anchor), maintenanceClient)).pipe(
      Effect.catchTag("AnchorPrunedError", ({ pruned }) => {
        const message = `--from-hash: The events up to position ${pruned} were pruned; verify without --from-hash`
        return Effect.fail(new CommandError({ message }))
      })
    )
    const { begin, damages, end, events } = value
    for (const { position, problem } of damages.slice(0, maxShown)) yield* Console.log(`Event ${position}: ${problem}`)
    if (damages.length > 0) {
      const more = damages.length > maxShown ? `, of which ${maxShown} are listed` : ""
      return yield* new CommandError({ message: `The change log is damaged: ${damages.length} problems${more}` })
    }
    yield* Console.log(
      `${Progress.count(events)} events after position ${begin.position} are unchanged, verified in ${seconds.toFixed(1)} s`
    )
    yield* Console.log(format(end))
  })
).pipe(
  Command.withDescription(
    "Compute the hashes of the change log again; exits with 1 if an event was changed, removed, inserted or moved. The last line is the end of the log: keep it elsewhere, because the log alone does not show that its last events were removed or that all of it was made again."
  ),
  Command.withExamples([{ command: "waypost audit verify --from-hash 1042:3f…" }])
)

/** `waypost audit` */
export const command = Command.make("audit").pipe(
  Command.withExamples([{ command: "waypost audit verify" }]),
  Command.withSubcommands([verify.pipe(Command.provide(Database.existing))])
)
