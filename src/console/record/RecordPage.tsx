import { useQuery } from "@tanstack/react-query"
import { Link, useLocation } from "wouter"
import { messageOf } from "../shell/Failure.tsx"
import { Heading } from "../shell/Heading.tsx"
import { hasTyped } from "../shell/Leaving.ts"
import { Loaded } from "../shell/Loaded.tsx"
import type { Json } from "../../domain/schema/Json.ts"
import { call, labelOf } from "../data/Calls.ts"
import type { Resource } from "../definition/Definition.ts"
import type { Read } from "../form/EditForm.tsx"
import { useSession } from "../session/Session.tsx"
import { useNames, useWords } from "../words/Words.tsx"
import { Details } from "./Details.tsx"
import { Gone } from "./Gone.tsx"
import { History } from "./History.tsx"
import { Related } from "./Related.tsx"
import { RemoveButton } from "./RemoveButton.tsx"
import { Usages } from "./Usages.tsx"
import { later } from "../shell/Later.tsx"

const EditForm = later(() => import("../form/EditForm.tsx"))
const Deliveries = later(() => import("./Deliveries.tsx"))
const MetaTags = later(() => import("../assets/MetaTags.tsx"))
const Readiness = later(() => import("./Readiness.tsx"))
const PostPreview = later(() => import("../posts/PostPreview.tsx"))
const Modules = later(() => import("../products/Modules.tsx"))

const keyOf = (resource: Resource, uuid: string) => ["record", resource.name, uuid]

const useRecord = (resource: Resource, uuid: string) => {
  const { client } = useSession()
  return useQuery({
    queryKey: keyOf(resource, uuid),
    queryFn: async ({ signal }): Promise<Read> => {
      const get = (query: Json) => call(client, resource.actions.get!, uuid, query, { signal })
      for (;;) {
        const more = resource.included.length === 0 ? undefined : await get({ include: resource.included })
        const { data, error, etag } = await get({}).result()
        if (error !== undefined) throw error
        // Only the answer without `include` has a tag for writes, which stands for the values of both if both are of one time.
        if (more === undefined || more["editedAt"] === data["editedAt"]) return { record: { ...more, ...data }, etag }
      }
    }
  })
}

interface Props {
  readonly resource: Resource
  readonly uuid: string
  readonly tab: string
}

/** The tabs of a record that the key may see, each with its title. */
const useTabs = ({ actions, modules, name, relations }: Resource): ReadonlyArray<readonly [string, string]> => {
  const words = useWords()
  const names = useNames()
  const { can } = useSession()
  return [
    ["details", words.details],
    ...(can(actions.update) ? [["edit", words.edit] as const] : []),
    ...(name === "posts" ? [["preview", words.preview] as const] : []),
    ...(modules.length > 0 ? [["modules", words.modules] as const] : []),
    ...relations
      .filter(({ list }) => can(list))
      .map((relation) => [relation.resource, names.resource(relation.resource)] as const),
    ...(can(actions["meta-tags"]) ? [["meta-tags", words.metaTags] as const] : []),
    ...(can(actions.readiness) ? [["readiness", words.readiness] as const] : []),
    ...(can(actions.deliveries) ? [["deliveries", words.deliveries] as const] : []),
    ...(can(actions.usages) ? [["usages", words.usages] as const] : []),
    ...(can(actions.history) ? [["history", words.history] as const] : [])
  ]
}

const Tabs = ({ resource, tab, tabs, uuid }: Props & { readonly tabs: ReturnType<typeof useTabs> }) => {
  const names = useNames()
  return (
    <nav className="tabs" aria-label={names.one(resource.name)}>
      <ul>
        {tabs.map(([name, text]) => (
          <li key={name}>
            <Link
              href={`/${resource.name}/${uuid}${name === "details" ? "" : `/${name}`}`}
              aria-current={tab === name ? "page" : undefined}
            >
              {text}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}

const Edit = ({ read, resource, uuid }: Omit<Props, "tab"> & { readonly read: Read }) => {
  const [, go] = useLocation()
  const saved = () => go(`/${resource.name}/${uuid}`)
  return (
    <EditForm
      action={resource.actions.update!}
      uuid={uuid}
      read={read}
      queryKey={keyOf(resource, uuid)}
      saved={saved}
    />
  )
}

const Content = ({ read, resource, tab, uuid }: Props & { readonly read: Read }) => {
  const relation = resource.relations.find((candidate) => candidate.resource === tab)
  if (relation !== undefined) return <Related owner={resource.name} relation={relation} uuid={uuid} />
  if (tab === "edit") return <Edit resource={resource} uuid={uuid} read={read} />
  if (tab === "preview") return <PostPreview post={read.record} />
  if (tab === "modules") return <Modules resource={resource} product={read.record} />
  if (tab === "meta-tags") return <MetaTags uuid={uuid} />
  if (tab === "readiness") return <Readiness action={resource.actions.readiness!} uuid={uuid} />
  if (tab === "deliveries") return <Deliveries action={resource.actions.deliveries!} uuid={uuid} />
  if (tab === "usages") return <Usages action={resource.actions.usages!} uuid={uuid} />
  if (tab === "history") return <History resource={resource} uuid={uuid} read={read} />
  return <Details resource={resource} record={read.record} />
}

const RecordPage = ({ resource, tab: wanted, uuid }: Props) => {
  const names = useNames()
  const { can } = useSession()
  const query = useRecord(resource, uuid)
  const tabs = useTabs(resource)
  // An address may name one that the key may not see.
  const tab = tabs.some(([name]) => name === wanted) ? wanted : "details"
  const isMissing = messageOf(query.error).tag.endsWith("NotFoundError") && can(resource.actions.history)
  // A form in which something was typed stays, also if another client deleted its record.
  const isGone = isMissing && !(query.data !== undefined && hasTyped())
  return (
    <>
      <p>
        <Link href={`/${resource.name}`}>← {names.resource(resource.name)}</Link>
      </p>
      {isGone ? (
        <Gone resource={resource} uuid={uuid} error={query.error} retry={() => void query.refetch()} />
      ) : (
        <Loaded query={query}>
          {(read) => (
            <>
              <div className="heading">
                <Heading text={labelOf(read.record, resource.label)} />
                <RemoveButton resource={resource} uuid={uuid} label={labelOf(read.record, resource.label)} />
              </div>
              <Tabs resource={resource} uuid={uuid} tab={tab} tabs={tabs} />
              <Content resource={resource} uuid={uuid} tab={tab} read={read} />
            </>
          )}
        </Loaded>
      )}
    </>
  )
}

export default RecordPage
