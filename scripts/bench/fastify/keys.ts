import { hash, timingSafeEqual } from "node:crypto"
import type { Sql } from "postgres"
import { ServiceError } from "./errors.ts"

interface StoredKey {
  readonly secretHash: Buffer
  readonly permissions: ReadonlyArray<string>
  readonly revoked: boolean
  readonly expired: boolean
}

const form = /^(?:(?:bearer|apikey) +)?wp_([0-9A-Za-z]{22})_([0-9A-Za-z]{43})[0-9A-Za-z]{6}$/i
const noHash = hash("sha256", "", "buffer")
const timeToLive = 1000

/** Authorizes the key in a header for a permission; keys are cached for a second. */
export const makeKeys = (sql: Sql) => {
  const cache = new Map<string, { readonly until: number; readonly key: Promise<StoredKey | undefined> }>()

  const load = async (id: string) => {
    const [key] = await sql<Array<StoredKey>>`
      select secret_hash as "secretHash", permissions, revoked_at is not null as revoked,
        coalesce(expires_at <= now(), false) as expired
      from api_keys where id = ${id}`
    return key
  }

  const find = (id: string) => {
    const now = Date.now()
    const known = cache.get(id)
    if (known !== undefined && known.until > now) return known.key
    const key = load(id)
    // The oldest entry is evicted, so that unknown ids cannot fill the memory.
    if (cache.size >= 10_000) cache.delete(cache.keys().next().value!)
    cache.set(id, { until: now + timeToLive, key })
    return key
  }

  return async (header: string | undefined, permission: string): Promise<void> => {
    const parts = form.exec(header?.trim() ?? "")
    if (parts === null) throw new ServiceError(401, "UnauthorizedError", "Send an API key in the Authorization header")
    const key = await find(parts[1]!)
    const matches = timingSafeEqual(hash("sha256", parts[2]!, "buffer"), key?.secretHash ?? noHash)
    if (key === undefined || !matches || key.revoked || key.expired) {
      throw new ServiceError(401, "UnauthorizedError", "No such API key")
    }
    if (!key.permissions.includes(permission)) {
      throw new ServiceError(403, "MissingPermissionsError", `This API key lacks ${permission}`)
    }
  }
}
