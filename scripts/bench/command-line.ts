import { parseArgs, type ParseArgsOptionsConfig } from "node:util"

/** Reads the options of a benchmark; an invalid one exits with the reason and the usage. */
export const commandLine = (usage: string) => {
  const fail = (message: string): never => {
    process.stderr.write(`${message}\n\n${usage}\n`)
    return process.exit(2)
  }
  return {
    values: <const Options extends ParseArgsOptionsConfig>(options: Options) => {
      try {
        return parseArgs({ options }).values
      } catch (error) {
        return fail((error as Error).message)
      }
    },
    number: (text: string, max: number): number => {
      const value = Number(text)
      return Number.isInteger(value) && value >= 1 && value <= max
        ? value
        : fail(`"${text}" is not a whole number from 1 to ${max}`)
    },
    oneOf:
      <const Name extends string>(names: ReadonlyArray<Name>) =>
      (text: string): Name =>
        names.find((name) => name === text) ?? fail(`"${text}" is not one of ${names.join(", ")}`)
  }
}
