import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import definition from "virtual:definition"
import { type Json, objectsIn } from "../../domain/schema/Json.ts"
import { call, textOf, valueAt } from "../data/Calls.ts"
import { useSession } from "../session/Session.tsx"
import { useFormats, useNames, useSpoken, useWords } from "../words/Words.tsx"

const Cover = ({ uuid }: { readonly uuid: string }) => {
  const { client } = useSession()
  const { data } = useQuery({
    queryKey: ["record", "assets", uuid, "cover"],
    queryFn: ({ signal }) => call(client, definition.actions["assets.get"]!, uuid, {}, { signal })
  })
  const address = textOf(valueAt(data, "urls.preview"))
  return address === "" ? null : <img className="cover" src={address} alt="" />
}

/** A post as its readers see it, in each of its languages. */
const PostPreview = ({ post }: { readonly post: Json }) => {
  const words = useWords()
  const names = useNames()
  const formats = useFormats()
  const { language } = useSpoken()
  const { can } = useSession()
  const translations = objectsIn(post["translations"])
  const own = translations.find((one) => textOf(one["locale"]).startsWith(language)) ?? translations[0]
  const [locale, setLocale] = useState(textOf(own?.["locale"]))
  const shown = translations.find((one) => one["locale"] === locale) ?? own
  const cover = textOf(post["coverAssetUuid"])
  const published = textOf(post["publishedAt"]) || textOf(post["publishAt"])
  if (shown === undefined) return null
  return (
    <>
      <div className="tools">
        <label>
          {names.member("locale")}
          <select value={locale} onChange={(event) => setLocale(event.target.value)}>
            {translations.map((one) => (
              <option key={textOf(one["locale"])}>{textOf(one["locale"])}</option>
            ))}
          </select>
        </label>
        <span className="hint">{words.previewHint}</span>
      </div>
      <article className="post" lang={locale}>
        {cover !== "" && can(definition.actions["assets.get"]) ? <Cover uuid={cover} /> : null}
        <h2>{textOf(shown["title"])}</h2>
        <p className="hint">
          {[published === "" ? "" : formats.time(published), textOf(valueAt(post, "author.name"))]
            .filter((part) => part !== "")
            .join(" · ")}
        </p>
        <p className="excerpt">{textOf(shown["excerpt"])}</p>
        {/* oxlint-disable-next-line react/no-danger -- the service takes out what could run or load something when it writes it */}
        <div dangerouslySetInnerHTML={{ __html: textOf(shown["body"]) }} />
      </article>
    </>
  )
}

export default PostPreview
