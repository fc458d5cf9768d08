import { BlockList, isIP } from "node:net"

const listOf = (...subnets: ReadonlyArray<string>) => {
  const list = new BlockList()
  for (const subnet of subnets) {
    const [address, length] = subnet.split("/")
    list.addSubnet(address!, Number(length), isIP(address!) === 6 ? "ipv6" : "ipv4")
  }
  return list
}

const intranetSubnetsV6 = ["::1/128", "fc00::/7"]

/** Networks of intranets and of the machine itself. */
const intranet = listOf(
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  ...intranetSubnetsV6
)

const intranetV6 = listOf(...intranetSubnetsV6)

/** What no receiver has: metadata services, links, groups, and addresses of documentation, tests and the future. */
const unusable = listOf(
  "0.0.0.0/8",
  "100.100.100.200/32",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
  "fd00:ec2::/32",
  "fd20:ce::/32"
)

/** The networks of addresses of IPv6 that lead somewhere; any other embeds one of IPv4 or is none of a receiver. */
const global = listOf("2000::/3")

/** ISATAP addresses, in the form in which `URL` and the system write them. */
const embedsIPv4 = (address: string) => /:(?:200:|0:|:)?5efe:[\da-f]{1,4}:[\da-f]{1,4}$/i.test(address)

export type AddressKind = "public" | "private" | "forbidden"

/** What a receiver at this address is: on the internet, on a private network, or nothing that may be connected to. */
export const kindOf = (address: string): AddressKind => {
  const family = isIP(address)
  if (family === 0 || address.includes("%")) return "forbidden"
  const type = family === 6 ? "ipv6" : "ipv4"
  // The list also finds the IPv4 address in one of IPv6, so that the family is compared first.
  if (family === 6 && !global.check(address, type) && !intranetV6.check(address, type)) return "forbidden"
  if (unusable.check(address, type) || (family === 6 && embedsIPv4(address))) return "forbidden"
  return intranet.check(address, type) ? "private" : "public"
}

/** Whether a host name is one of the machine itself, however it is written. */
export const isLocalhost = (host: string): boolean =>
  /(?:^|\.)localhost(?:\.localdomain|6?)?\.?$|^ip6-(?:localhost|loopback)$/i.test(host)
