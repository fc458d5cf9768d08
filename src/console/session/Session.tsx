import { useQueryClient } from "@tanstack/react-query"
import { createContext, type ReactNode, use, useCallback, useMemo, useState } from "react"
import { createClient, type WaypostClient } from "../../client/promise/PromiseClient.ts"
import * as Named from "../data/Named.ts"
import type { Action } from "../definition/Definition.ts"
import * as KeptKey from "./KeptKey.ts"
import { SignIn } from "./SignIn.tsx"

/** Who uses the console: a key, and what it may do. */
export interface Session {
  readonly client: WaypostClient
  /** Reads the name of a record. */
  readonly named: ReturnType<typeof Named.make>
  readonly name: string
  /** Whether the key has all permissions of an operation that the resource has. */
  readonly can: (action: Action | undefined) => action is Action
  readonly signOut: (reason?: string) => void
}

interface Signed {
  readonly key: string
  readonly name: string
  readonly permissions: ReadonlySet<string>
}

const clientOf = (key: string) => createClient({ url: location.origin, key })

const Context = createContext<Session | undefined>(undefined)

export const useSession = (): Session => use(Context)!

/** The pages below it have a session; without one it asks for a key. */
export const SessionProvider = ({ children }: { readonly children: ReactNode }) => {
  const queries = useQueryClient()
  const [signed, setSigned] = useState<Signed>()
  const [reason, setReason] = useState<string>()
  const signIn = useCallback(async (key: string, forLong: boolean) => {
    const { name, permissions } = await clientOf(key).apiKeys.me()
    KeptKey.keep(key, forLong)
    setReason(undefined)
    setSigned({ key, name, permissions: new Set<string>(permissions) })
  }, [])
  const session = useMemo((): Session | undefined => {
    if (signed === undefined) return undefined
    const client = clientOf(signed.key)
    return {
      client,
      named: Named.make(client),
      name: signed.name,
      can: (action): action is Action =>
        action !== undefined && action.permissions.every((permission) => signed.permissions.has(permission)),
      signOut: (why) => {
        KeptKey.forget()
        queries.clear()
        setReason(why)
        setSigned(undefined)
      }
    }
  }, [signed, queries])
  if (session === undefined) return <SignIn signIn={signIn} reason={reason} />
  return <Context value={session}>{children}</Context>
}
