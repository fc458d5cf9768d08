/** Those of all that the command line names, or all when it names none; a name that nothing has ends the program. */
export const choose = <A>(kind: string, all: ReadonlyArray<A>, nameOf: (one: A) => string): ReadonlyArray<A> => {
  const chosen = process.argv.slice(2)
  const names = all.map(nameOf)
  const unknown = chosen.filter((name) => !names.includes(name))
  if (unknown.length > 0) {
    console.error(`There is no ${kind} ${unknown.join(", ")}. There are ${names.join(", ")}.`)
    process.exit(1)
  }
  return all.filter((one) => chosen.length === 0 || chosen.includes(nameOf(one)))
}
