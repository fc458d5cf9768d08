/** The uuids of the examples, one for each kind of record that a body names. */
export const sampleUuids = {
  user: "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e31",
  location: "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e32",
  group: "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e33",
  asset: "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e34",
  file: "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e35",
  upload: "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e36",
  category: "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e37",
  product: "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e38",
  post: "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e39",
  metaTag: "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e3a"
} as const
