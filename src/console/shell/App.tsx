import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { useRef } from "react"
import { Route, Router, Switch, useLocation, useSearch } from "wouter"
import { useSearch as useBrowserSearch } from "wouter/use-browser-location"
import definition from "virtual:definition"
import { UploadList } from "../assets/UploadList.tsx"
import { SessionProvider, useSession } from "../session/Session.tsx"
import { Speaking, useWords } from "../words/Words.tsx"
import { Empty, messageOf } from "./Failure.tsx"
import { ErrorBoundary } from "./ErrorBoundary.tsx"
import { hasTyped, useLeaving } from "./Leaving.ts"
import { Notices, shownMillis, useNotify } from "./Notices.tsx"
import { Shell } from "./Shell.tsx"
import { StartPage } from "./StartPage.tsx"
import { ResourcePage } from "../table/ResourcePage.tsx"
import { later } from "./Later.tsx"

// The screens that are not needed to see a table load when they are opened.
const RecordPage = later(() => import("../record/RecordPage.tsx"))
const CreatePage = later(() => import("../form/CreatePage.tsx"))
const EventsPage = later(() => import("../activity/EventsPage.tsx"))
const AccessPage = later(() => import("../access/AccessPage.tsx"))
const ImportPage = later(() => import("../importing/ImportPage.tsx"))

let ended: (() => void) | undefined
const whenUnauthorized = (error: unknown) => {
  if (messageOf(error).tag === "UnauthorizedError") ended?.()
}

const queries = new QueryClient({
  queryCache: new QueryCache({ onError: whenUnauthorized }),
  mutationCache: new MutationCache({ onError: whenUnauthorized }),
  defaultOptions: {
    // The client repeats what may succeed the next time, and reports a missing network. Otherwise writes would wait for the network,
    // also those whose question was cancelled since.
    queries: {
      retry: false,
      staleTime: 5000,
      refetchOnWindowFocus: false,
      networkMode: "always",
      refetchOnReconnect: true
    },
    mutations: { networkMode: "always" }
  }
})

const Pages = () => {
  const words = useWords()
  const notify = useNotify()
  const noticedAt = useRef(-Infinity)
  const { signOut } = useSession()
  // What is typed stays until it is left: the request that failed shows why.
  ended = () => {
    if (!hasTyped()) return signOut(words.keyEnded)
    // Several requests can fail for it at once.
    if (performance.now() - noticedAt.current < shownMillis) return
    noticedAt.current = performance.now()
    notify(words.keyEnded)
  }
  return (
    <Switch>
      <Route path="/">
        <StartPage />
      </Route>
      <Route path="/events">
        <EventsPage />
      </Route>
      <Route path="/access">
        <AccessPage />
      </Route>
      <Route path="/import">
        <ImportPage />
      </Route>
      {definition.resources.flatMap((resource) => [
        <Route key={resource.name} path={`/${resource.name}`}>
          <ResourcePage key={resource.name} resource={resource} />
        </Route>,
        <Route key={`${resource.name}/new`} path={`/${resource.name}/new`}>
          <CreatePage resource={resource} />
        </Route>,
        <Route key={`${resource.name}/:uuid`} path={`/${resource.name}/:uuid/:tab?`}>
          {({ tab, uuid }) => <RecordPage key={uuid} resource={resource} uuid={uuid} tab={tab ?? "details"} />}
        </Route>
      ])}
      <Route>
        <Empty title={words.notFound} />
      </Route>
    </Switch>
  )
}

const Content = () => {
  const [path] = useLocation()
  const search = useSearch()
  return (
    <Shell>
      <ErrorBoundary place={`${path}?${search}`}>
        <Pages />
      </ErrorBoundary>
    </Shell>
  )
}

/** The router decodes a query once more than it was encoded: a percent sign is encoded twice. */
const useEncodedSearch = () => useBrowserSearch().replaceAll("%25", "%2525")

const Routed = () => (
  <Router base="/console" searchHook={useEncodedSearch} aroundNav={useLeaving()}>
    <ErrorBoundary>
      <SessionProvider>
        <Notices>
          <UploadList>
            <Content />
          </UploadList>
        </Notices>
      </SessionProvider>
    </ErrorBoundary>
  </Router>
)

export const App = () => (
  <Speaking>
    <QueryClientProvider client={queries}>
      <Routed />
    </QueryClientProvider>
  </Speaking>
)
