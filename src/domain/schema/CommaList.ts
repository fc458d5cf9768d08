import { SchemaTransformation } from "effect"

/** The elements of a comma-separated list, without the white space around them. */
export const commaList = SchemaTransformation.transform<ReadonlyArray<string>, string>({
  decode: (list) => list.split(",").map((element) => element.trim()),
  encode: (elements) => elements.join(",")
})
