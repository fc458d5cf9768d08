/** Twenty conditions on locations that no index serves. */
export const costlyFilter = Array.from({ length: 20 }, (_, index) => `other.extraDna1:contains:a${index}`).join(",")
