/** Whether `Accept` or `Accept-Encoding` lists a value; `q=0` rejects it. */
export const lists = (value: string) => {
  const listed = new RegExp(`\\b${value}\\b(?!\\s*;\\s*q=0(?:\\.0*)?\\s*(?:,|$))`, "i")
  return (header = "") => listed.test(header)
}
