import { Option } from "effect"

// What fetch never sends, and reports like a connection that broke; and what it should not follow.

/** Whether a URL has a user name or a password. */
export const hasCredentials = ({ password, username }: URL): boolean => username !== "" || password !== ""

/** A text that may be a URL, without a user name and a password. */
export const withoutCredentials = (text: string): string =>
  text
    .split("/")
    .map((part) => part.slice(part.lastIndexOf("@") + 1))
    .join("/")

const headersWith = Option.liftThrowable((value: string) => new Headers({ value }))

/** Whether a header can have a value, which has no characters outside of Latin-1 and no line breaks. */
export const isHeaderValue = (value: string): boolean => Option.isSome(headersWith(value))

/** Whether the port belongs to another protocol, which Node says in the cause of the error. */
export const isPortBlocked = (error: unknown): boolean =>
  error instanceof Error && (error.message === "bad port" || isPortBlocked(error.cause))

export const messages = {
  credentials: "The URL of the service has a user name or a password, with which no request is sent",
  key: "The API key has characters that no header can have"
} as const

/** The address of the service that a request was redirected to: without the path of the operation. */
export const redirectedTo = (url: string, location: string | undefined): string => {
  if (location === undefined || !URL.canParse(location, url)) return "another address"
  const { origin, pathname } = new URL(location, url)
  return `${origin}${pathname.replace(/\/(?:v1\/.*|readyz)?$/, "")}`
}
