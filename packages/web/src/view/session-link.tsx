import { sessionOf } from "../domain/documents.ts"
import { fragmentOf } from "../domain/route.ts"

/** To the session a chat or run worked in, when this server has it. */
export const SessionLink = (props: {
  readonly of: { readonly harness?: string; readonly harnessSessionId?: string }
}) => {
  const id = sessionOf(props.of)
  return id === undefined ? null : <a href={fragmentOf({ place: "session", id })}>session</a>
}
