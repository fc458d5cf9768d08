import bash from "@speed-highlight/core/languages/bash.js"
import docker from "@speed-highlight/core/languages/docker.js"
import ini from "@speed-highlight/core/languages/ini.js"
import json from "@speed-highlight/core/languages/json.js"
import sql from "@speed-highlight/core/languages/sql.js"
import ts from "@speed-highlight/core/languages/ts.js"
import yaml from "@speed-highlight/core/languages/yaml.js"
import { type ShjLanguageData, tokenizeWith } from "@speed-highlight/core/tokenize"
import { html, type Markup } from "./Html.ts"

// The library declares members as absent and as undefined, which `exactOptionalPropertyTypes` distinguishes.
const languages = { bash, docker, dockerfile: docker, ini, json, sh: bash, sql, ts, yaml } as Readonly<
  Record<string, ShjLanguageData>
>

const coloured = (text: string, language: ShjLanguageData): ReadonlyArray<Markup> => {
  const parts: Array<Markup> = []
  const onToken = (part: string, kind?: string) =>
    void parts.push(kind === undefined ? html`${part}` : html`<span class="t-${kind}">${part}</span>`)
  tokenizeWith(text, language, onToken, { languages })
  return parts
}

/** A block of code, with colours if its language is known. */
export const code = (text: string, language?: string): Markup => {
  const known = language !== undefined && Object.hasOwn(languages, language) ? languages[language] : undefined
  const inner = known === undefined ? text : coloured(text, known)
  return html`<pre${language === undefined ? undefined : html` data-language="${language}"`} tabindex="0"><code>${inner}</code></pre>`
}
