import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** A fenced code block of a Markdown file. */
interface Block {
  readonly line: number
  readonly language: string
  /** The words after the language; a page does not show them. */
  readonly words: ReadonlyArray<string>
  readonly text: string
  /** The reason in `<!-- not run: reason -->` before the block. */
  readonly notRun: string | undefined
  /** Whether the block directly follows the one before it. */
  readonly isNext: boolean
}

/** A block of commands with the output that the guide shows for it. */
export interface Step {
  readonly line: number
  readonly commands: string
  /** The HTTP status of its last request: ```` ```sh 404 ````. */
  readonly status: number | undefined
  /** The exit code of its last command: ```` ```sh exit=1 ````. */
  readonly exit: number | undefined
  readonly output: { readonly language: string; readonly text: string } | undefined
}

/** A file that a block holds: ```` ```csv branches.csv ````. */
export interface Sample {
  readonly name: string
  readonly text: string
}

export const root = join(import.meta.dirname, "../..")
export const read = (file: string) => readFileSync(join(root, file), "utf8")

const fence =
  /(?:^[ \t]*<!-- not run: (?<notRun>.+?) -->\n+)?^(?<indent>[ \t]*)```(?<language>\S*)(?<words>.*)\n(?<text>[\s\S]*?)^\k<indent>```$/gm

const blocksOf = (markdown: string): ReadonlyArray<Block> => {
  const found: Array<Block> = []
  let end = -1
  for (const match of markdown.matchAll(fence)) {
    const { indent = "", language = "", notRun, text = "", words = "" } = match.groups ?? {}
    found.push({
      line: markdown.slice(0, match.index + match[0].indexOf("```")).split("\n").length,
      language,
      words: words.trim() === "" ? [] : words.trim().split(/\s+/),
      text: text
        .split("\n")
        .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
        .join("\n"),
      notRun,
      isNext: end >= 0 && markdown.slice(end, match.index).trim() === ""
    })
    end = match.index + match[0].length
  }
  return found
}

const numberOf = (words: ReadonlyArray<string>, pattern: RegExp) => {
  const found = words.map((word) => pattern.exec(word)?.[1]).find((value) => value !== undefined)
  return found === undefined ? undefined : Number(found)
}

const isOutput = ({ isNext, language }: Block) => isNext && (language === "json" || language === "text")

/** What a guide has a reader run, in order, and which blocks cannot be run here. */
export const parse = (file: string) => {
  const blocks = blocksOf(read(file))
  const commands = blocks.filter(({ language }) => language === "sh")
  const steps = commands
    .filter(({ notRun }) => notRun === undefined)
    .map((block): Step => {
      const next = blocks[blocks.indexOf(block) + 1]
      return {
        line: block.line,
        commands: block.text,
        status: numberOf(block.words, /^(\d{3})$/),
        exit: numberOf(block.words, /^exit=(\d+)$/),
        output: next !== undefined && isOutput(next) ? next : undefined
      }
    })
  const samples = blocks
    .filter(({ language, words }) => language !== "sh" && words.length === 1)
    .map(({ text, words }): Sample => ({ name: words[0]!, text }))
  const notRun = commands.filter(({ notRun: reason }) => reason !== undefined)
  return { file, steps, samples, notRun }
}

/** The files of all guides. */
export const guides = readdirSync(join(root, "docs"))
  .filter((file) => file.endsWith(".md"))
  .map((file) => `docs/${file}`)
