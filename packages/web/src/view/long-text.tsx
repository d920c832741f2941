import type { SessionMessage } from "@meridian/protocol"
import { useState } from "preact/hooks"

import { MOST_MARKDOWN } from "../domain/markdown.ts"
import { clip, textOfContent, type Clip } from "../domain/row.ts"
import { useApp } from "../state/app.ts"
import { Markdown } from "./markdown.tsx"
import { useAct } from "./use-act.ts"

/** Where to find the whole text when the page kept only its beginning. */
export type Whole =
  | { readonly sessionID: string; readonly messageID: string; readonly part: "user" }
  | { readonly sessionID: string; readonly messageID: string; readonly part: "tool"; readonly callID: string }
  | {
      readonly sessionID: string
      readonly messageID: string
      readonly part: "text" | "reasoning"
      /** The start of the text. */
      readonly start: string
    }

/** A browser takes seconds to lay out more than this. */
const MOST_SHOWN = 400_000
const SHORT_CHARACTERS = 1_200
const SHORT_LINES = 16

/** Shows the beginning first, then everything in its own scroll box, so that no row becomes endless. */
export const LongText = (props: {
  readonly clip: Clip
  /** Default: plain text. Otherwise code, or the Markdown of a model. */
  readonly as?: "code" | "markdown"
  readonly whole?: Whole
}) => {
  const { whole } = props
  const { sessions } = useApp().client
  const [isLong, setIsLong] = useState(false)
  const [fetched, setFetched] = useState<Clip>()
  const { act, isActing, problem } = useAct()
  const beginning = shorten(props.clip.text, props.as)
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
      <Body as={props.as} text={text} isLong={isLong} />
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

const Body = (props: {
  readonly as: "code" | "markdown" | undefined
  readonly text: string
  readonly isLong: boolean
}) => {
  if (props.as === "markdown" && props.text.length <= MOST_MARKDOWN) return <Markdown text={props.text} />
  const long = props.isLong ? " long" : ""
  return props.as === "code" ? (
    <pre class={long.trim()} tabIndex={0}>
      {props.text}
    </pre>
  ) : (
    <p class={`words${long}`}>{props.text}</p>
  )
}

const shorten = (text: string, as: "code" | "markdown" | undefined): string => {
  // An answer is meant to be read, so all of it that the page has is shown.
  if (as === "markdown") return text
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
