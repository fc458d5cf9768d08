import { layer } from "@effect/vitest"
import type { Layer } from "effect"
import type { Storage } from "../../src/storage/Storage.ts"
import { objectTests } from "./ObjectTests.ts"
import type { Ability, Register } from "./Register.ts"
import { uploadTests } from "./UploadTests.ts"

/** The one suite every storage passes; the title says what the store behind it cannot do, and is not asked. */
export const suite = <E>(name: string, storage: Layer.Layer<Storage, E>, lacking: ReadonlyArray<Ability> = []) => {
  const title = lacking.length === 0 ? name : `${name}, a store that never ${lacking.join(", ")}`
  layer(storage, { excludeTestServices: true })(title, (it) => {
    const register: Register = (needed, title, test) => {
      if (needed === "always" || !lacking.includes(needed)) it.effect(title, test)
    }
    objectTests(register)
    uploadTests(register)
  })
}
