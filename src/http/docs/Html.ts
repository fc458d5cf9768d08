/** Text that is HTML already. */
export interface Markup {
  readonly markup: string
}

type Part = Markup | string | number | undefined | ReadonlyArray<Part>

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

const escape = (text: string) => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)

const isList = (part: Part): part is ReadonlyArray<Part> => Array.isArray(part)

const write = (part: Part): string => {
  if (part === undefined) return ""
  if (isList(part)) return part.map(write).join("")
  return typeof part === "object" ? part.markup : escape(String(part))
}

/** Markup with values, which are escaped unless they are markup. */
export const html = (strings: TemplateStringsArray, ...parts: ReadonlyArray<Part>): Markup => ({
  markup: strings.map((text, index) => (index === 0 ? text : write(parts[index - 1]) + text)).join("")
})

export const raw = (markup: string): Markup => ({ markup })
