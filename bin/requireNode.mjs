// Loaded before what an older Node cannot load: TypeScript, and names that its modules do not have.
import { isSupported, message } from "./node.mjs"

if (!isSupported) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
