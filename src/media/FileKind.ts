import { Record } from "effect"

/** The name of a file; the extension is without a dot. */
export interface FileName {
  readonly mimeType: string
  readonly extension: string
}

const extensions = {
  document: "doc docm docx dot dotm dotx odt ott pages rtf wpd wps epub mobi azw3",
  sheet: "csv tsv xls xlsb xlsm xlsx xlt xltx ods ots numbers parquet sav",
  presentation: "ppt pptm pptx pps ppsx pot potx odp otp key",
  pdf: "pdf",
  text: "txt md markdown log rst tex srt vtt",
  image: "jpg jpeg png apng gif webp avif tif tiff bmp heic heif ico jxl jp2 raw cr2 cr3 nef arw dng orf raf rw2",
  vector: "svg svgz eps ps emf wmf cdr",
  design: "psd psb ai indd idml indt sketch fig xd afdesign afphoto afpub xcf qxp",
  model: "3ds 3mf blend dae dwg dxf fbx glb gltf iges igs obj ply skp step stl stp usdz",
  audio: "mp3 wav aac m4a ogg oga opus flac aif aiff wma mid midi",
  video: "mp4 m4v mov webm mkv avi wmv flv mpg mpeg mts m2ts 3gp ogv mxf",
  font: "ttf otf ttc woff woff2 eot",
  code: "html htm css js mjs jsx ts tsx json xml yaml yml toml sql sh py rb php java c h cpp cs go rs swift kt wasm",
  archive: "zip rar 7z tar gz tgz bz2 xz zst lz4 cab iso dmg jar"
}

/** The kind of a file, which selects its icon. */
export type FileKind = keyof typeof extensions | "other"

const kinds: ReadonlyMap<string, FileKind> = new Map(
  Record.toEntries(extensions).flatMap(([kind, list]) => list.split(" ").map((extension) => [extension, kind] as const))
)

// The first match decides.
const types: ReadonlyArray<readonly [RegExp, FileKind]> = [
  [/^application\/pdf$/, "pdf"],
  [/^image\/svg\+xml$|postscript$|\/eps$/, "vector"],
  [/photoshop$|indesign$|xcf$/, "design"],
  [/^model\/|dwg$|sketchup|blender$|fbx$/, "model"],
  [/^image\//, "image"],
  [/^audio\//, "audio"],
  [/^video\//, "video"],
  [/^font\/|fontobject$/, "font"],
  [/sheet|excel|numbers$|^text\/csv$/, "sheet"],
  [/presentation|powerpoint|keynote$/, "presentation"],
  [/word|rtf$|pages$|opendocument\.text|epub/, "document"],
  [/zip|compress|x-(?:tar|rar|7z|xz|bzip2|gtar)|zstd$|archive$|diskimage$|iso9660/, "archive"],
  [/html|xml$|json$|javascript$|css$|wasm$|x-sh$/, "code"],
  [/^text\//, "text"]
]

/** Extensions of formats that share a MIME type, such as zip archives and text. */
const isGeneric = (mimeType: string) => /^text\/|\/(?:octet-stream|zip|xml|json|x-cfb|gzip|x-compress)$/.test(mimeType)

/** The kind of a file by its MIME type and its extension. */
export const fileKind = ({ extension, mimeType }: FileName): FileKind => {
  const byType = types.find(([type]) => type.test(mimeType))?.[1]
  const byName = kinds.get(extension.toLowerCase())
  return (isGeneric(mimeType) ? (byName ?? byType) : (byType ?? byName)) ?? "other"
}
