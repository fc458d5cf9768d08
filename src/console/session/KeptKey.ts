const name = "waypost-key"

/** The key is kept for the tab, and on the computer only if that was asked for; it is never in an address. */
export const read = (): string | null => sessionStorage.getItem(name) ?? localStorage.getItem(name)

export const keep = (key: string, forLong: boolean): void => {
  sessionStorage.setItem(name, key)
  if (forLong) localStorage.setItem(name, key)
}

/** Forgets a key that is rejected, so that a new tab does not begin with it. */
export const drop = (key: string): void => {
  for (const storage of [sessionStorage, localStorage]) if (storage.getItem(name) === key) storage.removeItem(name)
}

export const forget = (): void => {
  sessionStorage.removeItem(name)
  localStorage.removeItem(name)
}
