import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"

// Fails on words that the glossary replaces by a term of the field: in prose, and as parts of identifiers. It also fails on titles
// of tests that do not name their subject.
const banned: ReadonlyArray<readonly [word: string, instead: string]> = [
  ["told|tells?|telling", "return, report, log, show, visible"],
  ["mend(?:s|ed|ing)?", "fix, recover"],
  ["whoever|somebody|nobody", "the client, another transaction, no request"],
  ["refusals?", "error, rejection"],
  ["meanwhile", "concurrently, while …"],
  ["beside", "in addition to, with"]
]

/** Text that is not prose of this project, and the reason. */
const exceptions: ReadonlyArray<readonly [file: RegExp, allowed: RegExp]> = [
  // The list of words itself.
  [/^scripts\/words\.ts$/, /.*/],
  // The UNIX account that the embedded PostgreSQL runs as.
  [/^(?:src|test)\/postgres\/|^test\/support\//, /["'`]nobody["'`]|`nobody`/],
  // The names of applied migrations and their text never change.
  [/^src\/sql\/migrations\//, /.*/],
  // Data of fixtures.
  [/\.(?:tsv|csv|txt|raw|ndjson)$/, /.*/]
]

const isText = /\.(?:tsx?|m?js|css|html|md|json|tsv|csv|txt)$/
const files = execFileSync("git", ["ls-files", "src", "test", "scripts", "docs", "bin", "*.md", "openapi.json"])
  .toString()
  .split("\n")
  // Git also lists files that are deleted, but not in its index.
  .filter((file) => isText.test(file) && existsSync(file))

/** The words of a line, with identifiers split at capitals and underscores. */
const wordsOf = (line: string) => line.replaceAll(/([a-z\d])(?=[A-Z])|_/g, "$1 ")

const patterns = banned.map(([word, instead]) => ({ pattern: new RegExp(`\\b(?:${word})\\b`, "i"), instead }))

const found = files.flatMap((file) => {
  const allowed = exceptions.filter(([name]) => name.test(file)).map(([, text]) => text)
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line, index) => {
      const words = wordsOf(allowed.reduce((rest, text) => rest.replaceAll(new RegExp(text, "g"), ""), line))
      return patterns.flatMap(({ instead, pattern }) => {
        const word = pattern.exec(words)?.[0]
        return word === undefined ? [] : [`${file}:${index + 1}: "${word}"; use ${instead}`]
      })
    })
})

/** The start of a title that takes its subject from the group of the test. */
const verb =
  /\bit(?:\.\w+)*(?:\((?:[^()]|\([^()]*\))*\))?\(\s*["'`]((?:is|are|has|have|was|were|does|do|can|may|takes?|become)\b)/g

const incomplete = files
  .filter((file) => file.startsWith("test/"))
  .flatMap((file) => {
    const text = readFileSync(file, "utf8")
    return [...text.matchAll(verb)].map(
      ({ 1: word, index }) =>
        `${file}:${text.slice(0, index).split("\n").length}: a title begins with "${word}"; name its subject`
    )
  })

if (found.length + incomplete.length > 0) {
  console.error([...found, ...incomplete].join("\n"))
  console.error(`${found.length} banned words, ${incomplete.length} titles without a subject`)
  process.exit(1)
}
