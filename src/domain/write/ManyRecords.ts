/** How long a write that alters many records may take, in seconds. */
export const manyRecordsSeconds = 120
