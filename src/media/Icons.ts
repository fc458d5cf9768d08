import type { FileKind } from "./FileKind.ts"

/** The icon of a kind of file as an SVG: a sheet in the colour of the kind, on a transparent square. */
export const svg = (kind: FileKind): string => {
  const { color, lines = "", shapes = "" } = icons[kind]
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" width="96" height="96" viewBox="0 0 96 96">' +
    `<path fill="${color}" d="M25 8H58L78 28V81a7 7 0 0 1-7 7H25a7 7 0 0 1-7-7V15a7 7 0 0 1 7-7Z"/>` +
    '<path fill="#fff" fill-opacity=".45" d="M58 8L78 28H63a5 5 0 0 1-5-5Z"/>' +
    `<path fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round" stroke-linejoin="round" d="${lines}"/>` +
    `<path fill="#fff" d="${shapes}"/></svg>`
  )
}

interface Icon {
  readonly color: string
  /** Drawn with a round white pen; the sheet is 18 to 78 wide and, below its folded corner, 28 to 88 high. */
  readonly lines?: string
  /** Filled with white. */
  readonly shapes?: string
}

// No letters but drawn ones: a machine may have no fonts.
const icons: Readonly<Record<FileKind, Icon>> = {
  document: { color: "#2f6fde", lines: "M33 46H63M33 57H63M33 68H51" },
  sheet: {
    color: "#1c9a58",
    lines: "M35 43H61a3 3 0 0 1 3 3V69a3 3 0 0 1-3 3H35a3 3 0 0 1-3-3V46a3 3 0 0 1 3-3ZM32 53H64M32 62.5H64M43.5 53V72"
  },
  presentation: {
    color: "#e56b25",
    lines: "M31 43H65M34 43V62H62V43M48 62V67M41 73L48 67L55 73M42 56V53M48 56V49M54 56V51"
  },
  pdf: {
    color: "#d8303c",
    lines: "M30 69V48H34.5a5.5 5.5 0 0 1 0 11H30M45 48V69H47.5a7 7 0 0 0 7-7V55a7 7 0 0 0-7-7ZM60.5 69V48H68M60.5 58H66"
  },
  text: { color: "#64748b", lines: "M34 45H62M34 53.5H62M34 62H62M34 70.5H50" },
  image: {
    color: "#0d94a3",
    lines: "M32 70L43 55L50 63.5L55 58L64 70Z",
    shapes: "M52.5 47a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0Z"
  },
  vector: { color: "#d4478a", lines: "M37 66C37 51 59 65 59 50", shapes: "M33 63H41V71H33ZM55 45H63V53H55Z" },
  design: { color: "#8a41d6", lines: "M48 41L64 49.5L48 58L32 49.5ZM32 58L48 66.5L64 58M32 66.5L48 75L64 66.5" },
  model: { color: "#0b83b5", lines: "M48 41L63 49.5V66.5L48 75L33 66.5V49.5ZM33 49.5L48 58L63 49.5M48 58V75" },
  audio: {
    color: "#b83290",
    lines: "M42.5 68V47L61 43V64",
    shapes: "M32.3 68.5a6 4.8 0 1 0 12 0a6 4.8 0 1 0-12 0ZM50.8 64.5a6 4.8 0 1 0 12 0a6 4.8 0 1 0-12 0Z"
  },
  video: {
    color: "#5b4ad9",
    lines: "M35 44H61a4 4 0 0 1 4 4V66a4 4 0 0 1-4 4H35a4 4 0 0 1-4-4V48a4 4 0 0 1 4-4Z",
    shapes: "M43.5 51.5V62.5L54 57Z"
  },
  font: { color: "#3b4a63", lines: "M35 71L48 42L61 71M39.7 61H56.3" },
  code: { color: "#0f8575", lines: "M40 48L30 58L40 68M56 48L66 58L56 68M51.5 44L44.5 72" },
  archive: {
    color: "#b97a16",
    lines:
      "M44 14H47M49 20H52M44 26H47M49 32H52M44 38H47M49 44H52M45 53H51a2 2 0 0 1 2 2L54.5 67a3.5 3.5 0 0 1-3.5 4H45a3.5 3.5 0 0 1-3.5-4L43 55a2 2 0 0 1 2-2ZM48 63v1.5"
  },
  other: {
    color: "#8792a6",
    shapes:
      "M33 58a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0ZM44.5 58a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0ZM56 58a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0Z"
  }
}
