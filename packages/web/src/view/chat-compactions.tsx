import { HttpFailure, type ChatDocument, type HostCompactionDocument } from "@meridian/server/client"
import { useState } from "preact/hooks"

import { failureText } from "../domain/failure-text.ts"
import { tokensText } from "../domain/text.ts"
import { useApp } from "../state/app.ts"

/** What the compactions of a chat in a host kept and lost, and what was put back. Fetched when it is opened. */
export const ChatCompactions = ({
  spaceID,
  chat,
}: {
  readonly spaceID: string
  readonly chat: ChatDocument
}) => {
  const { spaces } = useApp().client
  const [read, setRead] = useState<Read>({ tag: "unread" })
  if (chat.harness === "direct" || chat.harnessSessionId === undefined) return null
  const open = (): void => {
    if (read.tag !== "unread") return
    setRead({ tag: "reading" })
    spaces.compactions({ spaceID, chatID: chat.chatId }).then(
      ({ items }) => setRead({ tag: "read", items }),
      (cause: unknown) => {
        if (!(cause instanceof HttpFailure)) throw cause
        setRead({ tag: "failed", text: failureText(cause) })
      },
    )
  }
  return (
    <details class="compactions" onToggle={open}>
      <summary>Compactions</summary>
      <Told read={read} />
    </details>
  )
}

type Read =
  | { readonly tag: "unread" | "reading" }
  | { readonly tag: "read"; readonly items: readonly HostCompactionDocument[] }
  | { readonly tag: "failed"; readonly text: string }

const Told = ({ read }: { readonly read: Read }) => {
  if (read.tag === "failed") return <p role="alert">{read.text}</p>
  if (read.tag !== "read") return <p class="faint">Loading…</p>
  if (read.items.length === 0) return <p class="faint">None that Meridian knows of.</p>
  return (
    <ol class="lines">
      {read.items.map((item) => (
        <li key={item.number}>
          <strong>
            {item.kept.length + item.putBack.length} of {count(item)} facts are there
          </strong>
          <span>{item.kept.length} kept by the summary</span>
          <span>{item.putBack.length} put back</span>
          {item.injectedTokens === undefined ? null : <span>{tokensText(item.injectedTokens)} tokens</span>}
          <Facts name="Lost" facts={item.lost} />
          <Facts name="Put back" facts={item.putBack} />
          <Facts
            name={item.contradicted ? "Invented by the summary, and contradicted" : "Invented by the summary"}
            facts={item.invented}
          />
          <details>
            <summary>The summary</summary>
            <pre>{item.summary}</pre>
          </details>
        </li>
      ))}
    </ol>
  )
}

const count = ({ kept, putBack, lost }: HostCompactionDocument): number =>
  kept.length + putBack.length + lost.length

const Facts = ({ name, facts }: { readonly name: string; readonly facts: readonly string[] }) =>
  facts.length === 0 ? null : (
    <details>
      <summary>
        {name}: {facts.length}
      </summary>
      <ul>
        {facts.map((fact, place) => (
          <li key={place}>{fact}</li>
        ))}
      </ul>
    </details>
  )
