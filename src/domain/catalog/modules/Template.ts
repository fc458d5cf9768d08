import { Schema } from "effect"
import { distinct } from "../../schema/Distinct.ts"
import { decimal, text, Uuid, WebUrl } from "../../schema/Fields.ts"
import { fieldsOf } from "../../query/FilterFields.ts"
import { Locale } from "../../schema/Locale.ts"
import { Location } from "../../locations/Location.ts"
import { acceptedLocale, choice, flag, Key, list, translations, unless } from "../ModuleFields.ts"
import { generated, references, withDefault } from "../../write/Markers.ts"
import * as Module from "../ModuleShape.ts"
import { sourcePathsOf } from "../SourcePaths.ts"
import { Product } from "../Product.ts"
import { User } from "../../people/User.ts"
import { int } from "../../schema/WholeNumber.ts"

const millimetres = Schema.optionalKey(decimal(0.01, 100_000, 2))
const pixels = Schema.optionalKey(int(1, 100_000))

const Output = Schema.Struct({
  key: Key,
  format: Schema.Literals(["pdf", "png", "jpg", "mp4", "html"]),
  widthMm: millimetres,
  heightMm: millimetres,
  widthPx: pixels,
  heightPx: pixels,
  dpi: withDefault(int(36, 2400), 300),
  colorSpace: choice(["rgb", "cmyk", "gray"], "rgb"),
  bleedMm: withDefault(decimal(0, 50, 2), 0),
  cropMarks: flag(false)
})
type Output = (typeof Output)["Encoded"]

const FixedValue = Schema.Union([text(5000, { multiline: true }), Schema.Finite, Schema.Boolean])

const Variable = Schema.Struct({
  key: Key,
  type: Schema.Literals(["text", "longText", "image", "color", "date", "number", "choice", "boolean", "money"]),
  translations: translations({
    label: text(255),
    helpText: Schema.optionalKey(text(1000, { multiline: true }))
  }),
  required: flag(false),
  editable: flag(true),
  maxLength: Schema.optionalKey(int(1, 100_000)),
  choices: distinct(text(255), 500, "choices"),
  source: choice(["user", "location", "userProfile", "product", "fixed"], "user").annotate({
    description: "Where the value comes from: who fills in the template, a record, or always the same."
  }),
  sourcePath: Schema.optionalKey(
    text(255).pipe(
      Schema.annotateEncoded({
        description:
          "The path in the location, the user's profile or the product. In a location it can also be an object, such as `media.logo` for an image, or a list, of which the first element counts.",
        examples: ["other.extraDna3"]
      })
    )
  ),
  fixedValue: Schema.optionalKey(FixedValue),
  assetCategories: distinct(text(64), 100, "categories")
    .pipe(Schema.annotateEncoded({ description: "The keys of the asset categories from which an image may come." }))
    .pipe(references("categories"))
})
type Variable = (typeof Variable)["Encoded"]

const leavesOf = (record: Schema.Top) => new Set(fieldsOf(record).map(({ path }) => path))

/** The paths that a variable can name, by its source; of a location, also those of objects and lists. */
const paths: Partial<Record<Variable["source"], ReadonlySet<string>>> = {
  location: new Set(sourcePathsOf(Location).keys()),
  userProfile: leavesOf(User),
  product: leavesOf(Product)
}

const sourceProblems = ({ fixedValue, source, sourcePath }: Variable, path: string) => {
  const known = paths[source]
  return [
    ...unless(
      known === undefined || (sourcePath !== undefined && known.has(sourcePath)),
      `${path}.sourcePath`,
      "unknownSourcePath",
      sourcePath === undefined
        ? `A value from the ${source} needs a sourcePath, such as name`
        : `There is no ${sourcePath} in the ${source}`
    ),
    ...unless(
      source !== "fixed" || fixedValue !== undefined,
      `${path}.fixedValue`,
      "fixedWithoutValue",
      "A fixed variable needs a fixedValue"
    )
  ]
}

/** What a format is measured in: paper in millimetres, screens in pixels, still images in either. */
const measures: Readonly<Record<Output["format"], ReadonlyArray<"Mm" | "Px">>> = {
  pdf: ["Mm"],
  png: ["Px", "Mm"],
  jpg: ["Px", "Mm"],
  mp4: ["Px"],
  html: ["Px"]
}

const outputProblems = (output: Output, path: string) => {
  const units = measures[output.format]
  return unless(
    units.some((unit) => output[`width${unit}`] !== undefined && output[`height${unit}`] !== undefined),
    path,
    "missingDimensions",
    `An output of format ${output.format} needs ${units.map((unit) => `width${unit} and height${unit}`).join(", or ")}`
  )
}

/** A web-to-print or digital template, bound to data. */
export const TemplateModule = Module.make(
  "template",
  {
    templateUuid: Schema.optionalKey(
      Uuid.pipe(Schema.annotateEncoded({ description: "Its id in the template engine." }))
    ),
    templateName: Schema.optionalKey(text(255)),
    version: withDefault(int(1, 1_000_000_000), 1),
    engine: choice(["studio", "indesign", "chili", "html"], "studio"),
    outputs: list(Output, { max: 20, of: "outputs", uniqueBy: "key" }),
    pages: withDefault(int(1, 500), 1),
    locales: distinct(Locale, 100, "locales")
      .check(Schema.isMinLength(1, { expected: "at least one locale", code: "tooFew" }))
      .pipe(acceptedLocale, generated("locales")),
    variables: list(Variable, { max: 300, of: "variables", uniqueBy: "key" }),
    previewUrl: Schema.optionalKey(WebUrl)
  },
  ({ outputs, variables }, lookup) => [
    ...unless(outputs.length > 0, "outputs", "noOutputs", "A template needs at least one output"),
    ...outputs.flatMap((output, index) => outputProblems(output, `outputs.${index}`)),
    ...variables.flatMap((variable, index) => {
      const path = `variables.${index}`
      return [
        ...sourceProblems(variable, path),
        ...unless(
          variable.type !== "choice" || variable.choices.length > 0,
          `${path}.choices`,
          "noChoices",
          "A variable of type choice needs choices"
        ),
        ...variable.assetCategories.flatMap((key, at) =>
          unless(
            lookup("categories", key) !== undefined,
            `${path}.assetCategories.${at}`,
            "unknownCategory",
            `There is no asset category ${key}`
          )
        )
      ]
    })
  ]
)
