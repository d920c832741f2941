import type { SessionMessage } from "@meridian/protocol"
import { useState } from "preact/hooks"

import { clip, textOfContent, type Clip } from "../domain/row.ts"
import { useApp } from "../state/app.ts"
import { useAct } from "./use-act.ts"

/** Where the whole text is when the page kept only its beginning. */
export type Whole =
  | { readonly sessionID: string; readonly messageID: string; readonly part: "user" }
  | { readonly sessionID: string; readonly messageID: string; readonly part: "tool"; readonly callID: string }
  | {
      readonly sessionID: string
      readonly messageID: string
      readonly part: "text" | "reasoning"
      /** What it begins with. */
      readonly start: string
    }

/** A browser takes seconds to lay out more than this. */
const MOST_SHOWN = 400_000
const SHORT_CHARACTERS = 1_200
const SHORT_LINES = 16

/** Shows the beginning first, then all of it in its own scroll box, so that no row becomes endless. */
export const LongText = (props: {
  readonly clip: Clip
  readonly isCode?: boolean
  readonly whole?: Whole
}) => {
  const { whole } = props
  const { sessions } = useApp().client
  const [isLong, setIsLong] = useState(false)
  const [fetched, setFetched] = useState<Clip>()
  const { act, isActing, problem } = useAct()
  const beginning = shorten(props.clip.text)
  const hidden = props.clip.text.length + props.clip.cut - beginning.length
  const text = isLong ? (fetched ?? props.clip).text : beginning
  const showAll = (): void => {
    setIsLong(true)
    if (props.clip.cut > 0 && whole !== undefined)
      act(async () => {
        const { sessionID, messageID } = whole
        const all = findText(await sessions.message({ sessionID, messageID }), whole)
        setFetched(all === undefined ? undefined : clip(all, MOST_SHOWN))
      })
  }
  return (
    <>
      {props.isCode === true ? (
        <pre class={isLong ? "long" : ""} tabIndex={isLong ? 0 : undefined}>
          {text}
        </pre>
      ) : (
        <p class={`words${isLong ? " long" : ""}`}>{text}</p>
      )}
      {hidden > 0 ? (
        <button type="button" class="quiet" onClick={() => (isLong ? setIsLong(false) : showAll())}>
          {isLong ? "Show less" : `Show all (${hidden.toLocaleString()} more characters)`}
        </button>
      ) : null}
      {isLong && fetched !== undefined && fetched.cut > 0 ? (
        <p class="faint">{fetched.cut.toLocaleString()} more characters are only in the log</p>
      ) : null}
      {isActing ? <span role="status"> Loading…</span> : null}
      {problem === undefined ? null : <p role="alert">{problem}</p>}
    </>
  )
}

const shorten = (text: string): string => {
  const lines = text.split("\n", SHORT_LINES + 1)
  const few = lines.length > SHORT_LINES ? lines.slice(0, SHORT_LINES).join("\n") : text
  return few.length > SHORT_CHARACTERS ? few.slice(0, SHORT_CHARACTERS) : few
}

const findText = (message: SessionMessage, whole: Whole): string | undefined => {
  if (message.type === "user") return message.text
  if (message.type !== "assistant") return undefined
  for (const part of message.content) {
    if (part.type === "tool") {
      if (whole.part !== "tool" || part.callID !== whole.callID) continue
      return part.state.status === "completed" ? textOfContent(part.state.content) : undefined
    }
    if (whole.part === part.type && clip(part.text).text === whole.start) return part.text
  }
  return undefined
}
