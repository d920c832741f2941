import { useEffect, useRef } from "preact/hooks"

import { failureText } from "../domain/failure-text.ts"
import { pageTitle } from "../domain/page-title.ts"
import { fragmentOf, type Route } from "../domain/route.ts"
import { useApp, type App, type Theme } from "../state/app.ts"
import { KeyHelp } from "./key-help.tsx"
import { Overview } from "./overview.tsx"
import { QuestionPage } from "./question-page.tsx"
import { RunPage } from "./run-page.tsx"
import { SessionList } from "./session-list.tsx"
import { SessionPage } from "./session-page.tsx"
import { SignIn } from "./sign-in.tsx"
import { SpaceList } from "./space-list.tsx"
import { SpacePage } from "./space-page.tsx"

/** The list beside the selected item; on a phone, one at a time. */
export const Shell = () => {
  const app = useApp()
  const failure = app.failure.value
  const route = app.route.value
  useTitle(pageTitle({ route, sessions: app.sessions.value ?? [], questions: waitingFor(app) }))
  useFocusOnArrival(fragmentOf(route))
  if (failure?.status === 401) return <SignIn failure={failure} />
  const isList = route.place === "sessions" || route.place === "spaces"
  return (
    <div class={`shell ${isList ? "at-list" : "at-detail"}`}>
      <a class="skip" href="#main" onClick={focusMain}>
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href={fragmentOf({ place: "sessions" })}>
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <circle cx="12" cy="12" r="9" />
            <ellipse cx="12" cy="12" rx="4" ry="9" />
            <path d="M3 12h18" />
          </svg>
          Meridian
        </a>
        <nav aria-label="Sections">
          <Tab to={{ place: "sessions" }} current={isSessions(route)}>
            Sessions
          </Tab>
          <Tab to={{ place: "spaces" }} current={!isSessions(route)}>
            Spaces
          </Tab>
        </nav>
        <OpenQuestions />
        <span class="gap" />
        <NotifyButton />
        <ThemeButton />
        <KeyHelp />
      </header>
      {failure === undefined ? null : (
        <p class="banner" role="alert">
          {failureText(failure)}
        </p>
      )}
      {app.isOutdated.value ? (
        <p class="banner" role="status">
          Meridian was updated while this page was open.{" "}
          <button type="button" onClick={() => location.reload()}>
            Reload
          </button>
        </p>
      ) : null}
      <aside class="side" aria-label={isSessions(route) ? "Sessions" : "Spaces"}>
        {isList ? <h1 class="hidden">{isSessions(route) ? "Sessions" : "Spaces"}</h1> : null}
        {isSessions(route) ? <SessionList /> : <SpaceList />}
      </aside>
      <main id="main" tabIndex={-1}>
        <Place route={route} />
      </main>
    </div>
  )
}

const isSessions = ({ place }: Route): boolean =>
  place === "sessions" || place === "session" || place === "questions"

const Place = ({ route }: { readonly route: Route }) => {
  switch (route.place) {
    case "sessions":
      return <Overview />
    case "questions":
      return <QuestionPage />
    case "session":
      return <SessionPage key={route.id} id={route.id} />
    case "spaces":
      return <p class="empty">Choose a space.</p>
    case "space":
      return <SpacePage key={route.id} id={route.id} />
    case "run":
      return <RunPage key={route.id} spaceID={route.spaceID} id={route.id} />
  }
}

const Tab = (props: { readonly to: Route; readonly current: boolean; readonly children: string }) => (
  <a href={fragmentOf(props.to)} aria-current={props.current ? "page" : undefined}>
    {props.children}
  </a>
)

const waitingFor = ({ permissions, questions }: App): number =>
  permissions.value.length + questions.value.length

/** Questions of other sessions, so that they are not missed. */
const OpenQuestions = () => {
  const app = useApp()
  const count = waitingFor(app)
  if (count === 0) return null
  return (
    <a class="badge" href={fragmentOf({ place: "questions" })}>
      {count === 1 ? "1 question waits" : `${count} questions wait`}
    </a>
  )
}

const NotifyButton = () => {
  const { state, turn } = useApp().notifications
  if (state.value === "unavailable") return null
  const isOn = state.value === "on"
  return (
    <button
      type="button"
      class="quiet"
      aria-pressed={isOn}
      title="Notifies you outside the page when a question comes or a session settles while this tab is hidden"
      onClick={() => turn(!isOn)}
    >
      {isOn ? "Notifies" : "Notify me"}
    </button>
  )
}

const NEXT_THEME = { auto: "light", light: "dark", dark: "auto" } as const satisfies Record<Theme, Theme>

const ThemeButton = () => {
  const { theme, setTheme } = useApp()
  return (
    <button type="button" class="quiet theme" onClick={() => setTheme(NEXT_THEME[theme.value])}>
      <span class="wide">Theme: </span>
      {theme.value}
    </button>
  )
}

const useTitle = (title: string): void =>
  useEffect(() => {
    document.title = title
  }, [title])

/** Moves the focus to the chosen place, for the keyboard and for screen readers. */
const useFocusOnArrival = (place: string): void => {
  const before = useRef(place)
  useEffect(() => {
    if (before.current === place) return
    before.current = place
    document.getElementById("main")?.focus({ preventScroll: true })
  }, [place])
}

const focusMain = (event: Event): void => {
  event.preventDefault()
  document.getElementById("main")?.focus()
}
