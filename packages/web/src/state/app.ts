/** What the whole page shares: the token, the current place, and the lists that are kept current. */
import {
  createClient,
  HttpFailure,
  type Client,
  type ModelDocument,
  type OpenPermissionRequest,
  type OpenQuestion,
  type SessionInfo,
  type SpaceRow,
} from "@meridian/server/client"
import { signal, type ReadonlySignal, type Signal } from "@preact/signals"
import { createContext } from "preact"
import { useContext } from "preact/hooks"

import { fragmentOf, readFragment, type Route } from "../domain/route.ts"
import { createNotifications, type Notifications } from "./notifications.ts"
import { whileVisible } from "./while-visible.ts"

/** Other programs write the files of spaces, and no event reports the change. */
const SPACES_MS = 2_000
const HIDDEN_MS = 10_000
/** A session at work changes many times a second, faster than people read. Only the first change is shown at once. */
const REST_MS = { few: 250, all: 1_000 } as const
/** Above this number, fetching the whole list is cheaper. */
const FEW_SESSIONS = 8
const TOKEN_KEY = "meridian.token"
const THEME_KEY = "meridian.theme"

export type Theme = "auto" | "light" | "dark"

export interface App {
  readonly client: Client
  readonly route: ReadonlySignal<Route>
  readonly sessions: ReadonlySignal<readonly SessionInfo[] | undefined>
  /** Whether there are older sessions than those listed. */
  readonly hasMore: ReadonlySignal<boolean>
  readonly showMore: () => void
  /** Updates the list with what an open session knows about itself, which may be newer. */
  readonly note: (session: SessionInfo) => void
  readonly permissions: ReadonlySignal<readonly OpenPermissionRequest[]>
  /** Questions other than permission requests. */
  readonly questions: ReadonlySignal<readonly OpenQuestion[]>
  readonly spaces: ReadonlySignal<readonly SpaceRow[] | undefined>
  readonly models: ReadonlySignal<readonly ModelDocument[]>
  readonly agents: ReadonlySignal<readonly string[]>
  readonly failure: Signal<HttpFailure | undefined>
  /** The server has a different version than this page. */
  readonly isOutdated: ReadonlySignal<boolean>
  readonly notifications: Notifications
  readonly theme: ReadonlySignal<Theme>
  readonly setTheme: (theme: Theme) => void
  readonly go: (route: Route) => void
  /** Fetches everything again. */
  readonly refresh: () => void
}

/** The token from the address or from this tab. It is removed from the address, so that it is not shared by accident. */
export const takeToken = (): string | undefined => {
  const { token, route } = readFragment(location.hash)
  if (token !== undefined) {
    sessionStorage.setItem(TOKEN_KEY, token)
    history.replaceState(null, "", fragmentOf(route))
  }
  return sessionStorage.getItem(TOKEN_KEY) ?? undefined
}

export const createApp = (token: string): App => {
  const client = createClient({ url: "", token })
  const route = signal<Route>(readFragment(location.hash).route)
  const sessions = signal<readonly SessionInfo[] | undefined>(undefined)
  const permissions = signal<readonly OpenPermissionRequest[]>([])
  const questions = signal<readonly OpenQuestion[]>([])
  const spaces = signal<readonly SpaceRow[] | undefined>(undefined)
  const models = signal<readonly ModelDocument[]>([])
  const agents = signal<readonly string[]>([])
  const failure = signal<HttpFailure | undefined>(undefined)
  const isOutdated = signal(false)
  const notifications = createNotifications()
  const theme = signal<Theme>(readTheme())
  const hasMore = signal(false)
  let ownVersion: string | undefined
  let pages = 1
  let isAsking = false
  let stale: "none" | "all" | ReadonlySet<string> = "none"

  const listSessions = async (): Promise<readonly SessionInfo[]> => {
    const list: SessionInfo[] = []
    let cursor: string | undefined
    for (let page = 0; page < pages && (page === 0 || cursor !== undefined); page += 1) {
      const answer = await client.sessions.list({
        limit: 100,
        order: "desc",
        ...(cursor === undefined ? {} : { cursor }),
      })
      list.push(...answer.items)
      cursor = answer.next
    }
    hasMore.value = cursor !== undefined
    return list
  }

  const note = (session: SessionInfo): void => {
    const list = sessions.value
    const known = list?.find(({ id }) => id === session.id)
    if (known === undefined || known.seq > session.seq) return
    sessions.value = list?.map((other) => (other === known ? session : other))
  }

  /** Fetches all sessions, or only the changed ones when the list already contains them. */
  const lookAtSessions = async (ids: ReadonlySet<string> | undefined): Promise<void> => {
    const known = new Set(sessions.value?.map(({ id }) => id))
    if (ids === undefined || ids.size > FEW_SESSIONS || [...ids].some((id) => !known.has(id)))
      sessions.value = await listSessions()
    else {
      const changed = [...ids].map((sessionID) => client.sessions.get({ sessionID }))
      for (const session of await Promise.all(changed)) note(session)
    }
    await lookAtQuestions()
    notifications.seeSessions(sessions.value ?? [])
  }

  /** A page may stay open longer than its server runs. */
  const lookAtVersion = async (): Promise<void> => {
    const { version } = await client.server.health()
    ownVersion ??= version
    isOutdated.value = version !== ownVersion
  }
  let versionLook: "rests" | "looks" | "again" = "rests"
  const mayBeOutdated = (): void => {
    if (document.hidden) return
    if (versionLook !== "rests") {
      versionLook = "again"
      return
    }
    versionLook = "looks"
    void lookAtVersion()
      .catch(() => undefined)
      .finally(() =>
        setTimeout(() => {
          const isAsked = versionLook === "again"
          versionLook = "rests"
          if (isAsked) mayBeOutdated()
        }, REST_MS.all),
      )
  }

  const lookAtQuestions = async (): Promise<void> => {
    permissions.value = (await client.permissions.list()).items
    questions.value = (await client.questions.list()).items
    notifications.seeQuestions(permissions.value, questions.value)
  }

  /** For a hidden tab: only what it shows outside the page. */
  const lookFromAfar = async (): Promise<void> => {
    await lookAtQuestions()
    if (notifications.state.value !== "on") return
    sessions.value = await listSessions()
    notifications.seeSessions(sessions.value)
  }

  const ask = async (): Promise<void> => {
    if (isAsking || document.hidden) return
    isAsking = true
    while (stale !== "none") {
      const ids = stale === "all" ? undefined : stale
      stale = "none"
      try {
        await lookAtSessions(ids)
        if (models.value.length === 0) {
          models.value = (await client.server.models()).items
          agents.value = (await client.server.agents()).items.map(({ name }) => name)
        }
        failure.value = undefined
      } catch (cause) {
        if (!(cause instanceof HttpFailure)) throw cause
        failure.value = cause
      }
      await new Promise((resolve) => setTimeout(resolve, REST_MS[ids === undefined ? "all" : "few"]))
    }
    isAsking = false
  }

  const changed = (ids: readonly string[] | undefined): void => {
    if (ids === undefined) stale = "all"
    else if (stale !== "all") stale = new Set([...(stale === "none" ? [] : stale), ...ids])
    void ask()
  }

  // Spaces belong to a project. A server without one still has sessions to show.
  const lookAtSpaces = async (): Promise<void> => {
    const isShown = route.value.place !== "session" && route.value.place !== "sessions"
    if (document.hidden || !(isShown || spaces.value === undefined)) return
    const asked = client.spaces.list({ limit: 200 })
    spaces.value = await asked.then(
      ({ items }) => items,
      () => spaces.value ?? [],
    )
  }

  window.addEventListener("hashchange", () => {
    if (readFragment(location.hash).token !== undefined) location.reload()
    else {
      route.value = readFragment(location.hash).route
      void lookAtSpaces()
    }
  })
  document.addEventListener("visibilitychange", () => {
    mayBeOutdated()
    void ask()
    void lookAtSpaces()
  })
  setInterval(() => void lookAtSpaces(), SPACES_MS)
  void lookAtSpaces()
  mayBeOutdated()
  // A hidden tab follows no stream, but its title still shows open questions.
  setInterval(() => {
    if (document.hidden) void lookFromAfar().catch(() => undefined)
  }, HIDDEN_MS)
  const lost = (cause: HttpFailure): void => {
    failure.value = cause
  }
  const follow = async (until: AbortSignal): Promise<void> => {
    for await (const { sessions: ids, elsewhere } of client.changes({ signal: until, lost })) {
      // Every stream also begins like this.
      if (elsewhere) mayBeOutdated()
      failure.value = undefined
      changed(elsewhere ? undefined : ids)
    }
  }
  whileVisible(follow, new AbortController().signal).catch((cause: unknown) => {
    if (!(cause instanceof HttpFailure)) throw cause
    lost(cause)
  })
  applyTheme(theme.value)

  return {
    client,
    route,
    sessions,
    hasMore,
    showMore: () => {
      pages += 1
      changed(undefined)
    },
    note,
    permissions,
    questions,
    spaces,
    models,
    agents,
    failure,
    isOutdated,
    notifications,
    theme,
    setTheme: (next) => {
      theme.value = next
      localStorage.setItem(THEME_KEY, next)
      applyTheme(next)
    },
    go: (next) => {
      location.hash = fragmentOf(next)
    },
    refresh: () => changed(undefined),
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
