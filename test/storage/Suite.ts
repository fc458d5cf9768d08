import { layer } from "@effect/vitest"
import type { Layer } from "effect"
import type { Storage } from "../../src/storage/Storage.ts"
import { objectTests } from "./ObjectTests.ts"
import type { Ability, Register } from "./Register.ts"
import { uploadTests } from "./UploadTests.ts"

/** The common suite of all storages; the title lists the abilities that the store lacks, whose tests are left out. */
export const suite = <E>(name: string, storage: Layer.Layer<Storage, E>, lacking: ReadonlyArray<Ability> = []) => {
  const title = lacking.length === 0 ? name : `${name} (without: ${lacking.join(", ")})`
  layer(storage, { excludeTestServices: true })(title, (it) => {
    const register: Register = (needed, title, test) => {
      if (needed === "always" || !lacking.includes(needed)) it.effect(title, test)
    }
    objectTests(register)
    uploadTests(register)
  })
}
