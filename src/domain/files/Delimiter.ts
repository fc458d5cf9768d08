/** The separators of cells that are detected. */
const candidates = [",", ";", "\t", "|"] as const

const names: Readonly<Record<string, string>> = { tab: "\t", "\\t": "\t", comma: ",", semicolon: ";", pipe: "|" }

/** The separator of `--delimiter`, which may be written as a word; `undefined` for anything but one character. */
export const parse = (given: string): string | undefined => {
  const delimiter = names[given.toLowerCase()] ?? given
  return delimiter.length === 1 && !/["\r\n]/.test(delimiter) ? delimiter : undefined
}

/** The separator as messages show it. */
export const shown = (delimiter: string): string => (delimiter === "\t" ? "tab" : `"${delimiter}"`)

/** The first record with content, without its line end; `undefined` when the text ends within it. */
export const firstRecord = (text: string): string | undefined => {
  let isQuoted = false
  let start = 0
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (character === '"') isQuoted = !isQuoted
    else if (!isQuoted && (character === "\n" || character === "\r")) {
      const record = text.slice(start, index)
      if (record.trim() !== "") return record
      start = index + 1
    }
  }
  return undefined
}

const split = (record: string, delimiter: string): ReadonlyArray<string> => {
  const cells = [""]
  let isQuoted = false
  for (const character of record) {
    if (character === '"') isQuoted = !isQuoted
    else if (character === delimiter && !isQuoted) cells.push("")
    else cells[cells.length - 1] += character
  }
  return cells.map((cell) => cell.trim())
}

/** Spreadsheets may write `sep=;` before the header. */
export const declared = (record: string): string | undefined => /^\uFEFF?"?sep=(.)/i.exec(record)?.[1]

/** The separator of a header: the one that yields most known titles, and of these the most cells. */
export const detect = (header: string, isKnown: (title: string) => boolean): string => {
  const given = declared(header)
  if (given !== undefined) return given
  const record = header.replace(/^\uFEFF/, "")
  const scored = candidates.map((delimiter) => {
    const cells = split(record, delimiter)
    return { delimiter, known: cells.filter(isKnown).length, cells: cells.length }
  })
  const best = Math.max(...scored.map(({ known }) => known))
  const remaining = scored.filter(({ known }) => known === best)
  const maxCells = Math.max(...remaining.map(({ cells }) => cells))
  return remaining.find(({ cells }) => cells === maxCells)!.delimiter
}
