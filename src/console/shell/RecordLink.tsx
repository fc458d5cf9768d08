import { Link } from "wouter"
import type { Json } from "../../domain/schema/Json.ts"
import { textOf } from "../data/Calls.ts"
import { resourceOfType } from "../definition/Resources.ts"

/** A record as answers name others: the link to it, or only its name if the console does not show its resource. */
export const RecordLink = ({ record }: { readonly record: Json }) => {
  const uuid = textOf(record["uuid"])
  const resource = resourceOfType(record["type"])
  const label = textOf(record["label"]) || uuid
  return resource === undefined ? label : <Link href={`/${resource.name}/${uuid}`}>{label}</Link>
}
