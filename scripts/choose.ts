import { parseArgs } from "node:util"

/** Those of all that the command line names, or all when it names none; a name that nothing has ends the program. */
export const choose = <A>(kind: string, all: ReadonlyArray<A>, nameOf: (one: A) => string): ReadonlyArray<A> => {
  const { positionals } = parseArgs({ allowPositionals: true })
  const names = all.map(nameOf)
  const unknown = positionals.filter((name) => !names.includes(name))
  if (unknown.length > 0) {
    console.error(`There is no ${kind} ${unknown.join(", ")}. There are ${names.join(", ")}.`)
    process.exit(1)
  }
  return all.filter((one) => positionals.length === 0 || positionals.includes(nameOf(one)))
}
