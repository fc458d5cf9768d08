import { Schema } from "effect"
import { operations, type Operation } from "../../api/Operations.ts"
import { ModuleName } from "../../domain/catalog/ModuleName.ts"
import { owns, supports } from "../../domain/catalog/ProductModule.ts"
import { ProductType } from "../../domain/catalog/Product.ts"
import { maxValues, operatorsOf } from "../../domain/query/FilterConditions.ts"
import type { Field } from "../../domain/query/FilterFields.ts"
import { includedPermissions } from "../../domain/query/Include.ts"
import { columnsOf } from "../../domain/files/Rows.ts"
import { maxOperations } from "../../domain/write/Bulk.ts"
import { maxMembers } from "../../domain/write/Relations.ts"
import {
  type Action,
  type ActionName,
  actionNames,
  type Column,
  type Definition,
  type Module,
  type Relation,
  type Resource
} from "./Definition.ts"
import { defaultOf, type Documented, documented, valuesOf } from "./OpenApiDocument.ts"

/** The members that name a record to people, the best first. */
const labels = [
  "name",
  "title",
  "username",
  "translations.0.name",
  "translations.0.title",
  "fileNameOriginal",
  "key",
  "url"
]

const maxShown = 6

/** Descriptions mark names as code, which a screen does not show as such. */
const textOf = (value: unknown) => (typeof value === "string" ? value.replaceAll("`", "") : "")

const actionOf = ({ group, name, node }: Documented): Action => {
  const permissions = node["x-required-permissions"]
  return {
    group,
    name,
    permissions: Array.isArray(permissions) ? permissions.map(String) : [],
    summary: textOf(node["summary"]),
    description: textOf(node["description"])
  }
}

const find = (method: string, path: string) =>
  documented.find((operation) => operation.method === method && operation.path === path)

const action = (method: string, path: string): Action | undefined => {
  const found = find(method, path)
  return found === undefined ? undefined : actionOf(found)
}

/** The type of the records of a group in events: `assetCategory`. */
const typeOf = (group: string) => group.replace(/ies$/, "y").replace(/s$/, "")

const columnOf = ({ kind, lists, path, values }: Field, sortable: ReadonlyArray<string>): Column => ({
  path,
  kind,
  values,
  isInList: lists.length > 0,
  operators: operatorsOf[kind],
  isSortable: sortable.includes(path)
})

const labelOf = ({ fields }: Operation) => labels.find((label) => fields.includes(label)) ?? "uuid"

/** The label first, then what is filled in first, and when it was changed. */
const shownOf = (operation: Operation, sortable: ReadonlyArray<string>) => {
  const label = labelOf(operation)
  const others = operation.fields.filter(
    (path) =>
      path !== label && !path.endsWith("uuid") && !path.endsWith("Uuid") && path !== "createdAt" && path !== "editedAt"
  )
  const ranked = [
    ...others.filter((path) => sortable.includes(path)),
    ...others.filter((path) => !sortable.includes(path))
  ]
  const times = operation.fields.filter((path) => path === "editedAt")
  return [label, ...ranked.slice(0, maxShown - 1 - times.length), ...times]
}

/** The lists below a record whose elements are records of another resource. */
const relationsOf = (name: string, resources: ReadonlyArray<string>): ReadonlyArray<Relation> =>
  resources.flatMap((resource) => {
    const path = `/v1/${name}/{uuid}/${resource}`
    const list = action("get", path)
    return list?.name.startsWith("list") === true ? [{ resource, list, replace: action("put", path) }] : []
  })

const modulesOf = (name: string): ReadonlyArray<Module> => {
  const prefix = `/v1/${name}/{uuid}/modules/`
  const names = documented.filter(({ method, path }) => method === "put" && path.startsWith(prefix))
  return names.map(({ path }) => {
    const module = Schema.decodeUnknownSync(ModuleName)(path.slice(prefix.length))
    return {
      name: module,
      get: action("get", path)!,
      update: action("put", path)!,
      remove: action("delete", path)!,
      owners: ProductType.literals.filter((type) => owns(type, module)),
      holders: ProductType.literals.filter((type) => supports(type, module))
    }
  })
}

const actionsOf = (name: string): Resource["actions"] => {
  const one = `/v1/${name}/{uuid}`
  const found: Readonly<Record<ActionName, Action | undefined>> = {
    list: action("get", `/v1/${name}`),
    search: action("get", `/v1/${name}/search`),
    get: action("get", one),
    create: action("post", `/v1/${name}`),
    update: action("patch", one),
    delete: action("delete", one),
    history: action("get", `${one}/history`),
    restore: action("post", `${one}/restore`),
    bulk: action("post", `/v1/${name}/bulk`),
    usages: action("get", `${one}/usages`),
    readiness: action("get", `${one}/readiness`),
    deliveries: action("get", `${one}/deliveries`),
    "meta-tags": action("patch", `${one}/meta-tags`)
  }
  return Object.fromEntries(actionNames.flatMap((key) => (found[key] === undefined ? [] : [[key, found[key]]])))
}

/** What a plan compares, by the body that creates a record. */
const importedOf = (name: string, all: ReadonlyArray<Operation>) => {
  const create = all.find(({ resource, verb }) => resource === name && verb === "create")
  const isPlanned = valuesOf(find("post", "/v1/plans")!, "resource").includes(name)
  return isPlanned && create?.payload !== undefined ? columnsOf(create.payload) : []
}

const resourceOf = (
  operation: Operation,
  resources: ReadonlyArray<string>,
  all: ReadonlyArray<Operation>
): Resource => {
  const { filterable, group, included, query, resource: name, values } = operation
  const list = find("get", `/v1/${name}`)!
  const sortable = valuesOf(list, "sortBy")
  return {
    name,
    group,
    description: textOf(operation.description),
    recordType: typeOf(group),
    label: labelOf(operation),
    // What belongs to other records, such as their number, is only answered with them, and no filter names it.
    columns: values.filter(({ path }) => filterable.includes(path)).map((field) => columnOf(field, sortable)),
    shown: shownOf(operation, sortable),
    sortBy: defaultOf(list, "sortBy") ?? "createdAt",
    actions: actionsOf(name),
    relations: relationsOf(name, resources),
    modules: modulesOf(name),
    included: included.filter((member) => !(member in includedPermissions)),
    imported: importedOf(name, all),
    hasOpeningHours: query.some((parameter) => parameter.name === "openAt"),
    hasSelection: query.some((parameter) => parameter.name === "fields")
  }
}

/** Everything the console shows, from the definition of the API. */
export const derive = (version: string): Definition => {
  // The log of changes has a screen of its own.
  const all = operations()
  const lists = all.filter(({ resource, verb }) => verb === "list" && find("get", `/v1/${resource}/{uuid}`))
  const names = lists.map(({ resource }) => resource)
  return {
    version,
    maxOperations,
    maxMembers,
    maxValues,
    resources: lists.map((operation) => resourceOf(operation, names, all)),
    actions: Object.fromEntries(
      documented.map((operation) => [`${operation.group}.${operation.name}`, actionOf(operation)])
    )
  }
}
