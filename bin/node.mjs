import { readFileSync } from "node:fs"

const { engines } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
const partsOf = (version) => /(\d+)\.(\d+)/.exec(version).slice(1).map(Number)
const [major, minor] = partsOf(process.versions.node)
const [minMajor, minMinor] = partsOf(engines.node)

/** Whether this Node is as new as package.json says. */
export const isSupported = major > minMajor || (major === minMajor && minor >= minMinor)

export const message = `Waypost needs Node ${minMajor}.${minMinor} or newer; this is ${process.versions.node}`
