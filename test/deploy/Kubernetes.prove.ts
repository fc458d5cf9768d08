import { assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { install, node } from "../support/contract/ExternalTools.ts"

const manifest = readFileSync(join(import.meta.dirname, "../../deploy/kubernetes.yaml"), "utf8")

/**
 * Prints the kind of each object of a manifest; fails on one that the schema of Kubernetes does not allow. Members that the schema
 * does not know are allowed by it.
 */
const script = `import { readFileSync } from "node:fs"
import { parseAllDocuments } from "yaml"
for (const document of parseAllDocuments(readFileSync(process.argv[1], "utf8"))) {
  const object = document.toJS()
  const models = await import("kubernetes-models/" + object.apiVersion)
  new models[object.kind](object).validate()
  console.log(object.kind)
}`

const validate = async (text: string) => {
  const folder = mkdtempSync(join(tmpdir(), "waypost-kubernetes-"))
  const file = join(folder, "kubernetes.yaml")
  writeFileSync(file, text)
  const ran = await node(["--input-type=module", "--eval", script, file])
  rmSync(folder, { recursive: true, force: true })
  return ran
}

it("deploy/kubernetes.yaml asks for no scrape without the token that its instances need for one", () => {
  assert.include(manifest, "METRICS_TOKEN: ")
  assert.notInclude(manifest, "prometheus.io/scrape")
})

describe("deploy/kubernetes.yaml", () => {
  beforeAll(install, 600_000)

  it("deploy/kubernetes.yaml is valid by the schemas of Kubernetes, which reject planted errors", async () => {
    const { all, code, output } = await validate(manifest)
    assert.strictEqual(code, 0, all)
    const kinds = ["Secret", "ConfigMap", "Job", "Deployment", "PodDisruptionBudget", "Service"]
    assert.deepStrictEqual(output.trim().split("\n"), kinds)
    for (const [right, wrong] of [
      ["replicas: 2", "replicas: two"],
      ["restartPolicy: OnFailure", "restartPolicy: 5"],
      ["containerPort: 3000", "containersPort: 3000"],
      ["targetPort: http", "targetPort: [http]"]
    ] as const) {
      assert.include(manifest, right)
      assert.notStrictEqual((await validate(manifest.replace(right, wrong))).code, 0, wrong)
    }
  })
})
