import { String as Str } from "effect"
import { type RecordType, typeOfKind } from "../changes/RecordType.ts"
import type { Access, AccessReason } from "./Access.ts"
import type { AccessFacts, Match, Named } from "./AccessFacts.ts"
import { actions } from "./Actions.ts"
import { datesText, stateText } from "./Publication.ts"

type Code = AccessReason["code"]
type Effect = AccessReason["effect"]

interface Place {
  readonly type: RecordType
  readonly record: Named
  readonly path?: string
}

const effectOf = (isAllowed: boolean): Effect => (isAllowed ? "allow" : "deny")

const counted = (count: number, what: string) => (count === 1 ? `one ${what.slice(0, -1)}` : `${count} ${what}`)

/** "view", "view and order", "view, order and publish". */
const listed = (words: ReadonlyArray<string>) =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`

/** The names and reasons of one question, as a reader of some types of record sees them. */
const writer = (facts: AccessFacts, visible: ReadonlySet<RecordType>) => {
  const labelOf = (type: RecordType, { label }: Named) => (visible.has(type) ? (label ?? undefined) : undefined)
  const name = (type: RecordType, record: Named, unnamed = `a ${type}`) => {
    const label = labelOf(type, record)
    return label === undefined ? unnamed : `the ${type} ${label}`
  }
  const { resource, subject } = facts
  return {
    name,
    theSubject: name(subject.type, subject, `the ${subject.type}`),
    theResource: name(resource.type, resource, `the ${resource.type}`),
    reason: (code: Code, effect: Effect, message: string, { path, record, type }: Place): AccessReason => {
      const label = labelOf(type, record)
      return {
        code,
        effect,
        message: Str.capitalize(message),
        record: { type, uuid: record.uuid, ...(label === undefined ? {} : { label }) },
        ...(path === undefined ? {} : { path })
      }
    }
  }
}

type Writer = ReturnType<typeof writer>

const userState = ({ subject }: AccessFacts, isAllowed: boolean, { reason, theSubject }: Writer) =>
  reason(
    "userState",
    effectOf(isAllowed),
    `${theSubject} has the status ${subject.status}${isAllowed ? "" : "; set it to active"}`,
    { type: "user", record: subject, path: "status" }
  )

const ownState = ({ resource }: AccessFacts, { reason, theResource }: Writer): ReadonlyArray<AccessReason> => {
  const { isPublished, isWithinDates, type } = resource
  const { path, text } = datesText(type, resource)
  const at = (path: string): Place => ({ type, record: resource, path })
  return [
    reason(`${type}State`, effectOf(isPublished), `${theResource} ${stateText(type, resource)}`, at("status")),
    reason(`${type}Dates`, effectOf(isWithinDates), `${theResource} ${text}`, at(path))
  ]
}

const inheritance = ({ parent }: AccessFacts, isAllowed: boolean, { name, reason }: Writer) => {
  if (parent === null) return []
  const it = name("product", parent, "the parent")
  const { path, text } = parent.isPublished
    ? datesText("product", parent)
    : { path: "status", text: stateText("product", parent) }
  const message = isAllowed
    ? `${it}, whose permissions, locations and campaigns count, is published and within its dates`
    : `the parent decides as well: ${it} ${text}`
  return [reason("inheritance", effectOf(isAllowed), message, { type: "product", record: parent, path })]
}

const withActions = ({ actions }: Match) =>
  actions === null ? "" : `, with ${actions.length === 0 ? "no action" : `the actions ${listed(actions)}`}`

/** Whether the subject belongs to one of the groups or locations that something is given to. */
const membership = (facts: AccessFacts, code: Code, at: Place, { name, reason, theSubject }: Writer): AccessReason => {
  const { given, subject } = facts
  const list = given.to === "locations" ? "locations" : "groups"
  const type = typeOfKind[list]
  const isItself = subject.type === type
  const [match] = given.matches
  if (match === undefined) {
    const names = given.some.map((one) => name(type, one, "")).filter((one) => one !== "")
    const change = isItself
      ? "add it to the list"
      : `add it to one of them${names.length > 0 ? `: ${names.join(", ")}` : ""}`
    const found = isItself ? "is not one of" : "belongs to none of"
    return reason(code, "deny", `${theSubject} ${found} the ${counted(given.count, list)}; ${change}`, at)
  }
  const found = isItself ? `${theSubject} is listed` : `${theSubject} belongs to ${name(type, match)}`
  const change = match.isView ? "" : "; add the action view"
  return reason(code, effectOf(match.isView), `${found}${withActions(match)}${change}`, {
    type,
    record: match,
    ...(isItself ? {} : { path: `${subject.type}s` })
  })
}

/** To whom something is given: everyone, or listed groups or locations. */
const recipients = ({ given: { count, to } }: AccessFacts, what: string) => {
  if (to === "everyone") return `${what} is for everyone`
  if (count === 0) return `${what} lists no ${to}, which means no user; add one`
  return `${what} is for ${counted(count, to!)}`
}

const permissions = (facts: AccessFacts, write: Writer): ReadonlyArray<AccessReason> => {
  const { count, to } = facts.given
  const record = facts.parent ?? facts.resource
  const at = (path: string): Place => ({ type: "product", record, path: `modules.permissions${path}` })
  const { reason } = write
  if (to === null) {
    // A variant has no module of its own that could be activated.
    const owner =
      facts.parent === null
        ? write.theResource
        : `${write.name("product", facts.parent, "the parent")}, whose permissions count,`
    const message = `${owner} has no permissions module, which means no user; activate the module`
    return [reason("permissionsModule", "deny", message, at(""))]
  }
  const isAllowed = to === "everyone" || count > 0
  const message = recipients(facts, "the permissions module")
  const module = reason(
    "permissionsModule",
    effectOf(isAllowed),
    message,
    at(isAllowed ? ".authorizationType" : `.${to}`)
  )
  return to === "everyone" || count === 0 ? [module] : [module, membership(facts, to, at(`.${to}`), write)]
}

const audience = (facts: AccessFacts, write: Writer): AccessReason => {
  const { given, resource } = facts
  const at = (path: string): Place => ({ type: "post", record: resource, path: `audience.${path}` })
  if (given.to !== null && given.to !== "everyone" && given.count > 0)
    return membership(facts, "audience", at(given.to), write)
  const isAllowed = given.to === "everyone"
  const message = recipients(facts, "the audience")
  return write.reason(
    "audience",
    effectOf(isAllowed),
    message,
    at(isAllowed ? "authorizationType" : (given.to ?? "groups"))
  )
}

const locationsModule = (
  facts: AccessFacts,
  isAllowed: boolean,
  { name, reason, theSubject }: Writer
): AccessReason => {
  const { locations, parent, resource, subject } = facts
  const record = parent ?? resource
  const at = (path: string): Place => ({ type: "product", record, path: `modules.locations${path}` })
  if (locations === null) {
    return reason("locationsModule", "allow", "without a locations module, every location may use the product", at(""))
  }
  const { mode, place } = locations
  if (isAllowed && place !== null) {
    return reason("locationsModule", "allow", `${name("location", place)} may use the product`, {
      type: "location",
      record: place
    })
  }
  if (subject.places === 0) {
    const message = `${theSubject} has no location, and the product is for locations; add it to one that may use the product`
    return reason("locationsModule", "deny", message, { type: subject.type, record: subject, path: "locations" })
  }
  const which = subject.type === "location" ? theSubject : `each location of ${theSubject}`
  const message =
    mode === "exclude"
      ? `${which} is excluded; remove one from the locations module`
      : `${which} is missing in the locations module; add one`
  return reason("locationsModule", "deny", message, at(mode === "exclude" ? "" : ".locations"))
}

const campaign = (
  { campaigns, parent, resource }: AccessFacts,
  isAllowed: boolean,
  { reason }: Writer
): AccessReason => {
  const message = !isAllowed
    ? "outside a campaign the product cannot be ordered; activate a campaign, or set onlyDuringCampaign to false"
    : campaigns?.isLimited === true
      ? `the campaign ${campaigns.current} is active`
      : "the product can be ordered at any time, not only during a campaign"
  const path = campaigns === null ? "modules.campaigns" : "modules.campaigns.onlyDuringCampaign"
  return reason("campaign", effectOf(isAllowed), message, { type: "product", record: parent ?? resource, path })
}

/** The decision of the rules, and what each of them found, for a reader who may read records of some types. */
export const accessOf = (facts: AccessFacts, visible: ReadonlySet<RecordType>): Access => {
  const { given, rules, resource } = facts
  const write = writer(facts, visible)
  const { campaign: isOrderable = true, ...seeing } = rules
  const isVisible = Object.values(seeing).every((isAllowed) => isAllowed)
  const held = resource.type === "post" ? ["view"] : given.to === "everyone" ? actions : given.actions
  return {
    decision: effectOf(isVisible),
    actions: isVisible ? actions.filter((one) => held.includes(one) && (one !== "order" || isOrderable)) : [],
    reasons: [
      ...(rules["userState"] === undefined ? [] : [userState(facts, rules["userState"], write)]),
      ...ownState(facts, write),
      ...(resource.type === "post"
        ? [audience(facts, write)]
        : [
            ...permissions(facts, write),
            locationsModule(facts, rules["locationsModule"] === true, write),
            campaign(facts, isOrderable, write),
            ...inheritance(facts, rules["inheritance"] === true, write)
          ])
    ]
  }
}
