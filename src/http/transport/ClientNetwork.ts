import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"

/** The first four of the eight groups of an IPv6 address. */
const prefixOf = (address: string) => {
  const [head = [], tail = []] = address.split("::").map((part) => part.split(":").filter((group) => group !== ""))
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => "0")
  return [...head, ...zeros, ...tail].slice(0, 4).join(":")
}

/** The network of an address: an IPv4 address itself, and of IPv6 the 64 bits that a client cannot choose. */
export const networkOf = (address: string): string => {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1]
  return mapped ?? (address.includes(":") ? prefixOf(address) : address)
}

/** The network of the client, or of the proxy before it. */
export const of = ({ remoteAddress }: HttpServerRequest.HttpServerRequest): string =>
  networkOf(Option.getOrElse(remoteAddress, () => ""))
