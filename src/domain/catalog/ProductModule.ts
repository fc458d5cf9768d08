import { Schema } from "effect"
import { ApiError } from "../write/ApiError.ts"
import { Uuid } from "../schema/Fields.ts"
import { AnsweredModuleName, type ModuleName } from "./ModuleName.ts"
import type { Problem } from "../write/Completion.ts"
import { summaryOf } from "../write/Excerpts.ts"
import type { Shaped } from "../write/Markers.ts"
import type { Lookup } from "../write/References.ts"
import { ApiModule } from "./modules/Api.ts"
import { CampaignsModule } from "./modules/Campaigns.ts"
import { DeliveryModule } from "./modules/Delivery.ts"
import { DistributionModule } from "./modules/Distribution.ts"
import { FilesModule } from "./modules/Files.ts"
import { FormBuilderModule } from "./modules/FormBuilder.ts"
import { InternalCommentModule } from "./modules/InternalComment.ts"
import { LocationsModule } from "./modules/Locations.ts"
import { PermissionsModule } from "./modules/Permissions.ts"
import { PriceModule } from "./modules/Price.ts"
import { ReservationsModule } from "./modules/Reservations.ts"
import { SocialsModule } from "./modules/Socials.ts"
import { StockModule } from "./modules/Stock.ts"
import { TemplateModule } from "./modules/Template.ts"
import { VariantsModule } from "./modules/Variants.ts"
import { WorkflowModule } from "./modules/Workflow.ts"
import { ProductType } from "./Product.ts"

/** Where a product has a module from: its own, its parent's, its own or else its parent's, or it cannot have it. */
type Origin = "own" | "parent" | "ownOrParent" | "none"

const withDefaultsForVariants = { default: "own", variantParent: "own", variant: "ownOrParent" } as const
const fromParentOnly = { default: "own", variantParent: "own", variant: "parent" } as const
const notOfParents = { default: "own", variantParent: "none", variant: "own" } as const
const ofParentsOnly = { default: "none", variantParent: "own", variant: "none" } as const

/** The sixteen modules: what each holds, and which products have it. */
export const modules = {
  api: { ...ApiModule, origins: withDefaultsForVariants },
  delivery: { ...DeliveryModule, origins: withDefaultsForVariants },
  distribution: { ...DistributionModule, origins: fromParentOnly },
  locations: { ...LocationsModule, origins: fromParentOnly },
  files: { ...FilesModule, origins: withDefaultsForVariants },
  stock: { ...StockModule, origins: notOfParents },
  price: { ...PriceModule, origins: withDefaultsForVariants },
  workflow: { ...WorkflowModule, origins: withDefaultsForVariants },
  socials: { ...SocialsModule, origins: fromParentOnly },
  "internal-comment": { ...InternalCommentModule, origins: fromParentOnly },
  campaigns: { ...CampaignsModule, origins: fromParentOnly },
  permissions: { ...PermissionsModule, origins: fromParentOnly },
  reservations: { ...ReservationsModule, origins: notOfParents },
  template: { ...TemplateModule, origins: withDefaultsForVariants },
  "form-builder": { ...FormBuilderModule, origins: withDefaultsForVariants },
  variants: { ...VariantsModule, origins: ofParentsOnly }
} as const satisfies Record<ModuleName, { readonly origins: Readonly<Record<ProductType, Origin>> }>

export type Modules = typeof modules

/** The answer of a module of a product. */
export type ModuleAnswer<Name extends ModuleName> = Modules[Name]["answer"]["Type"]

/** A module whose exact fields are only known to the callers' types. */
export interface AnyModule extends Shaped {
  readonly name: ModuleName
  readonly answer: Schema.Codec<unknown, unknown> & Shaped
  readonly update: Schema.Codec<unknown, unknown>
  readonly origins: Readonly<Record<ProductType, Origin>>
  readonly rules: (settings: unknown, lookup: Lookup) => ReadonlyArray<Problem>
}

export const moduleOf = (name: ModuleName): AnyModule => modules[name]

/** Whether a product of the type can have the module at all. */
export const supports = (type: ProductType, name: ModuleName): boolean => modules[name].origins[type] !== "none"

/** Whether a product of the type can have the module itself. */
export const owns = (type: ProductType, name: ModuleName): boolean =>
  modules[name].origins[type] === "own" || modules[name].origins[type] === "ownOrParent"

/** Whether a product of the type can have the module from its parent. */
export const inherits = (type: ProductType, name: ModuleName): boolean =>
  modules[name].origins[type] === "parent" || modules[name].origins[type] === "ownOrParent"

/** For descriptions: which types of products do something with a module, if not all do. */
const only = (name: ModuleName, can: typeof supports, what: string) => {
  const types = ProductType.literals.filter((type) => can(type, name)).map((type) => `\`${type}\``)
  return types.length === ProductType.literals.length ? "" : ` Only products of type ${types.join(" and ")} ${what}.`
}

const ofVariants = {
  own: { read: ".", remove: "." },
  parent: { read: "; a variant has that of its parent.", remove: "." },
  ownOrParent: {
    read: ", or the inherited module of its parent.",
    remove: "; a variant then inherits that of its parent."
  },
  none: { read: ".", remove: "." }
} as const satisfies Record<Origin, unknown>

/** What the operations on a module say of the products that have it. */
export const describeOrigins = (name: ModuleName) => {
  const { read, remove } = ofVariants[modules[name].origins.variant]
  return {
    read: `The module of the product${read}${only(name, supports, "have it")}`,
    remove: `Deactivates the module${remove}${only(name, owns, "have their own")}`
  }
}

export class ModuleNotActiveError extends ApiError<ModuleNotActiveError>()(
  "ModuleNotActiveError",
  { message: Schema.String, module: AnsweredModuleName, productUuid: Uuid },
  { httpApiStatus: 400 }
) {
  static of = (module: ModuleName, productUuid: string) =>
    new ModuleNotActiveError({
      message: `The product ${productUuid} has no active module ${module}`,
      module,
      productUuid
    })
  /** Of a product that has only the module of its parent. */
  static ofInherited = (module: ModuleName, productUuid: string) =>
    new ModuleNotActiveError({
      message: `The product ${productUuid} has no module ${module} of its own; it inherits that of its parent`,
      module,
      productUuid
    })
}

export class ModuleIncompatibleWithProductTypeError extends ApiError<ModuleIncompatibleWithProductTypeError>()(
  "ModuleIncompatibleWithProductTypeError",
  {
    message: Schema.String,
    module: AnsweredModuleName,
    productType: ProductType,
    compatibleTypes: Schema.Array(ProductType)
  },
  { httpApiStatus: 400 }
) {
  /** Of a product that cannot have the module. */
  static of = (module: ModuleName, productType: ProductType) => incompatible(module, productType, "have", supports)
  /** Of a product that cannot have the module itself. */
  static ofWrite = (module: ModuleName, productType: ProductType) =>
    incompatible(module, productType, "have its own", owns)
}

const incompatible = (module: ModuleName, productType: ProductType, verb: string, can: typeof supports) => {
  const types = ProductType.literals.filter((type) => can(type, module))
  return new ModuleIncompatibleWithProductTypeError({
    message: `A product of type ${productType} cannot ${verb} module ${module}; products of type ${types.join(" and ")} can`,
    module,
    productType,
    compatibleTypes: types
  })
}

/** One thing that is wrong with a template module. */
const TemplateIssue = Schema.Struct({
  path: Schema.String,
  code: Schema.String.annotate({
    description:
      "`noOutputs`, `missingDimensions`, `unknownSourcePath`, `fixedWithoutValue`, `noChoices`, `unknownCategory` or `duplicate`."
  }),
  message: Schema.String
}).annotate({ identifier: "TemplateIssue" })

export class InvalidTemplateModuleConfigurationError extends ApiError<InvalidTemplateModuleConfigurationError>()(
  "InvalidTemplateModuleConfigurationError",
  { message: Schema.String, issues: Schema.Array(TemplateIssue) },
  { httpApiStatus: 400 }
) {
  static of = (issues: ReadonlyArray<Problem>) =>
    new InvalidTemplateModuleConfigurationError({
      message: summaryOf(issues.map(({ message, path }) => `${path}: ${message}`)),
      issues
    })
}
