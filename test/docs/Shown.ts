// Compares what a guide shows with what was printed. Shown members and lines must be there; more may be. "…" stands for any
// text. Values that differ from run to run (uuids, times, keys, signatures) only have to look alike, and the printed value
// replaces the shown one in the blocks that follow.

export type Replacements = Map<string, string>

const uuid = "[\\da-f]{8}-[\\da-f]{4}-[\\da-f]{4}-[\\da-f]{4}-[\\da-f]{12}"
const timestamp = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z"
const day = "\\d{4}-\\d\\d-\\d\\d(?: \\d\\d:\\d\\d)?"
const key = "wp_[\\dA-Za-z_]+"
const hash = "[\\da-f]{32,64}"
const amount = "[\\d.,]+ (?:s|B|kB|MB|rows/s|kB/s|MB/s)(?![a-z])"
const varying = new RegExp(`…|${uuid}|${timestamp}|${key}|${day}|${hash}|${amount}`, "g")

/** A pattern for a shown text. */
const patternOf = (shown: string) => {
  const classes = [uuid, timestamp, key, day, hash, amount]
  const parts = shown.split(varying).map((part) =>
    part
      .split(/ +/)
      .map((word) => RegExp.escape(word))
      .join(" +")
  )
  const between = [...shown.matchAll(varying)].map(([text]) =>
    text === "…"
      ? "[\\s\\S]*"
      : `(?:${classes.find((one) => new RegExp(`^${one}$`).test(text)) ?? RegExp.escape(text)})`
  )
  return parts.map((part, index) => part + (between[index] ?? "")).join("")
}

/** Whether later blocks can refer to such a value; a time is not a reference. */
const isReference = (shown: string) =>
  shown.replaceAll("…", "").length >= 8 && !new RegExp(`^(?:${timestamp}|${day})$`).test(shown)

const sameText = (shown: string, printed: string, replacements: Replacements): boolean => {
  const expected = replacements.get(shown) ?? shown
  if (expected === printed) return true
  if (replacements.has(shown) || !new RegExp(`^${patternOf(shown)}$`).test(printed)) return false
  if (isReference(shown)) replacements.set(shown, printed)
  return true
}

/** Where the printed value lacks what is shown. */
export const missing = (
  shown: unknown,
  printed: unknown,
  replacements: Replacements,
  path = "$"
): ReadonlyArray<string> => {
  if (typeof shown === "string" && typeof printed === "string") {
    return sameText(shown, printed, replacements) ? [] : [`${path}: shown "${shown}", printed "${printed}"`]
  }
  if (Array.isArray(shown) && Array.isArray(printed)) {
    const elements: ReadonlyArray<unknown> = shown
    const isCut = elements.at(-1) === "…"
    const compared = isCut ? elements.slice(0, -1) : elements
    if (isCut ? printed.length < compared.length : printed.length !== compared.length) {
      return [`${path}: shown ${compared.length} elements, printed ${printed.length}`]
    }
    return compared.flatMap((one, index) => missing(one, printed[index], replacements, `${path}[${index}]`))
  }
  if (typeof shown === "object" && shown !== null && typeof printed === "object" && printed !== null) {
    const members = new Map(Object.entries(printed))
    return Object.entries(shown).flatMap(([name, value]) => {
      if (name === "…") return []
      return members.has(name)
        ? missing(value, members.get(name), replacements, `${path}.${name}`)
        : [`${path}.${name}: shown, but not printed`]
    })
  }
  return Object.is(shown, printed)
    ? []
    : [`${path}: shown ${JSON.stringify(shown)}, printed ${JSON.stringify(printed)}`]
}

/** The shown JSON, in which … may stand for members and elements. */
export const parseShown = (text: string): unknown => {
  const open: Array<string> = []
  const quoted = text.replaceAll(/"(?:\\.|[^"\\])*"|[[\]{}…]/g, (token) => {
    if (token === "[" || token === "{") open.push(token)
    else if (token === "]" || token === "}") open.pop()
    else if (token === "…") return open.at(-1) === "[" ? '"…"' : '"…": 0'
    return token
  })
  return JSON.parse(quoted)
}

/** The JSON that was printed last. */
export const parsePrinted = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return JSON.parse(text.trim().split("\n").at(-1) ?? "")
  }
}

/** The shown lines that were not printed, in the order of the guide. */
export const missingLines = (shown: string, printed: string, replacements: Replacements): ReadonlyArray<string> => {
  const lines = printed.split("\n").map((line) => line.trimEnd())
  let from = 0
  return shown.split("\n").flatMap((raw) => {
    const line = raw.trimEnd()
    if (line === "" || line.trim() === "…") return []
    const pattern = new RegExp(`^${patternOf(line)}$`, "i")
    const at = lines.findIndex((candidate, index) => index >= from && pattern.test(candidate))
    if (at === -1) return [`shown "${line}", printed:\n${printed}`]
    learn(line, lines[at]!, replacements)
    from = at + 1
    return []
  })
}

/** Remembers the printed uuids and keys in place of the shown ones. */
const learn = (shown: string, printed: string, replacements: Replacements) => {
  const references = new RegExp(`${uuid}|${key}|${hash}`, "g")
  const values = [...printed.matchAll(references)].map(([value]) => value)
  for (const [index, [value]] of [...shown.matchAll(references)].entries()) {
    if (values[index] !== undefined) replacements.set(value, values[index])
  }
}

/** Puts printed values in place of the shown ones. */
export const replaceIn = (text: string, replacements: Replacements) =>
  [...replacements]
    .toSorted(([a], [b]) => b.length - a.length)
    .reduce((rest, [shown, printed]) => rest.replaceAll(shown, printed), text)
