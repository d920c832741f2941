import { oneLine } from "@meridian/protocol"

import { failureText } from "../domain/failure-text.ts"
import { fragmentOf } from "../domain/route.ts"
import { costText } from "../domain/text.ts"
import { useApp } from "../state/app.ts"
import { usePolled } from "./use-polled.ts"

/** The session that works for a call, folded out below the call: its last messages, and a link to all of them. */
export const ChildSession = ({
  child,
}: {
  readonly child: { readonly sessionID: string; readonly agent: string }
}) => {
  const { sessions } = useApp().client
  const { sessionID } = child
  const { value, failure } = usePolled(sessionID, async () => {
    const [session, { items }] = await Promise.all([
      sessions.get({ sessionID }),
      sessions.messages({ sessionID, order: "desc", limit: SHOWN }),
    ])
    return { session, messages: items.toReversed() }
  })
  return (
    <section class="child" aria-label={`Session of the agent ${child.agent}`}>
      <h3>
        <a href={fragmentOf({ place: "session", id: sessionID })}>Session of {child.agent}</a>
        {value === undefined ? null : (
          <span class="faint">
            {" "}
            {value.session.status}, {costText(value.session.cost)}
          </span>
        )}
      </h3>
      {failure === undefined ? null : <p role="alert">{failureText(failure)}</p>}
      <ol class="lines">
        {(value?.messages ?? []).flatMap((message) => {
          if (message.type === "user")
            return [<li key={message.id}>Asked: {oneLine(message.text, MOST_CHARACTERS)}</li>]
          if (message.type !== "assistant") return []
          return message.content.map((part, at) => (
            <li key={`${message.id} ${at}`}>
              {part.type === "tool"
                ? `${part.tool}: ${part.state.status}`
                : oneLine(part.text, MOST_CHARACTERS)}
            </li>
          ))
        })}
      </ol>
    </section>
  )
}

const SHOWN = 20
const MOST_CHARACTERS = 300
