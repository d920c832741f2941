/** What the whole page shares: who we are, where we are, and the lists that are kept current. */
import { signal, type ReadonlySignal, type Signal } from "@preact/signals"
import { createContext } from "preact"
import { useContext } from "preact/hooks"

import type {
  ModelDocument,
  PermissionDocument,
  SessionDocument,
  SpaceRowDocument,
} from "../domain/documents.ts"
import { fragmentOf, readFragment, type Route } from "../domain/route.ts"
import { createApi, HttpFailure, type Api, type Connection } from "../http/api.ts"

const POLL_MS = 2_000
const TOKEN_KEY = "meridian.token"
const THEME_KEY = "meridian.theme"

export type Theme = "auto" | "light" | "dark"

export interface App {
  readonly connection: Connection
  readonly api: Api
  readonly route: ReadonlySignal<Route>
  readonly sessions: ReadonlySignal<readonly SessionDocument[] | undefined>
  /** Whether there are older sessions than those listed. */
  readonly hasMore: ReadonlySignal<boolean>
  readonly showMore: () => void
  readonly permissions: ReadonlySignal<readonly PermissionDocument[]>
  readonly spaces: ReadonlySignal<readonly SpaceRowDocument[] | undefined>
  readonly models: ReadonlySignal<readonly ModelDocument[]>
  readonly failure: Signal<HttpFailure | undefined>
  readonly theme: ReadonlySignal<Theme>
  readonly setTheme: (theme: Theme) => void
  readonly go: (route: Route) => void
  /** Asks again now instead of at the next tick. */
  readonly refresh: () => void
}

/** The token of the address or of this tab. Takes it out of the address, so that it is not shared by accident. */
export const takeToken = (): string | undefined => {
  const { token, route } = readFragment(location.hash)
  if (token !== undefined) {
    sessionStorage.setItem(TOKEN_KEY, token)
    history.replaceState(null, "", fragmentOf(route))
  }
  return sessionStorage.getItem(TOKEN_KEY) ?? undefined
}

export const createApp = (token: string): App => {
  const connection: Connection = { token, fetch: (input, init) => fetch(input, init) }
  const api = createApi(connection)
  const route = signal<Route>(readFragment(location.hash).route)
  const sessions = signal<readonly SessionDocument[] | undefined>(undefined)
  const permissions = signal<readonly PermissionDocument[]>([])
  const spaces = signal<readonly SpaceRowDocument[] | undefined>(undefined)
  const models = signal<readonly ModelDocument[]>([])
  const failure = signal<HttpFailure | undefined>(undefined)
  const theme = signal<Theme>(readTheme())
  const hasMore = signal(false)
  let pages = 1
  let isAsking = false

  const listSessions = async (): Promise<readonly SessionDocument[]> => {
    const list: SessionDocument[] = []
    let cursor: string | undefined
    for (let page = 0; page < pages && (page === 0 || cursor !== undefined); page += 1) {
      const answer = await api.sessions(cursor)
      list.push(...answer.items)
      cursor = answer.next
    }
    hasMore.value = cursor !== undefined
    return list
  }

  const ask = async (): Promise<void> => {
    if (isAsking || document.hidden) return
    isAsking = true
    try {
      const [list, open] = await Promise.all([listSessions(), api.permissions()])
      sessions.value = list
      permissions.value = open
      if (models.value.length === 0) models.value = await api.models()
      // Spaces belong to a project; a server without one still has sessions to show.
      if (route.value.place !== "session" || spaces.value === undefined)
        spaces.value = await api.spaces().catch(() => [])
      failure.value = undefined
    } catch (cause) {
      if (cause instanceof HttpFailure) failure.value = cause
      else throw cause
    } finally {
      isAsking = false
    }
  }

  window.addEventListener("hashchange", () => {
    if (readFragment(location.hash).token !== undefined) location.reload()
    else route.value = readFragment(location.hash).route
  })
  document.addEventListener("visibilitychange", () => void ask())
  setInterval(() => void ask(), POLL_MS)
  void ask()
  applyTheme(theme.value)

  return {
    connection,
    api,
    route,
    sessions,
    hasMore,
    showMore: () => {
      pages += 1
      void ask()
    },
    permissions,
    spaces,
    models,
    failure,
    theme,
    setTheme: (next) => {
      theme.value = next
      localStorage.setItem(THEME_KEY, next)
      applyTheme(next)
    },
    go: (next) => {
      location.hash = fragmentOf(next)
    },
    refresh: () => void ask(),
  }
}

const readTheme = (): Theme => {
  const stored = localStorage.getItem(THEME_KEY)
  return stored === "light" || stored === "dark" ? stored : "auto"
}

const applyTheme = (theme: Theme): void => {
  if (theme === "auto") delete document.documentElement.dataset["theme"]
  else document.documentElement.dataset["theme"] = theme
}

export const AppContext = createContext<App | undefined>(undefined)

export const useApp = (): App => {
  const app = useContext(AppContext)
  if (app === undefined) throw new Error("no app above this component")
  return app
}
