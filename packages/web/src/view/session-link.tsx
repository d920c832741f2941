import { fragmentOf } from "../domain/route.ts"

/** To the session a chat or run worked in, when this server has it. */
export const SessionLink = (props: {
  readonly of: { readonly harness?: string; readonly harnessSessionId?: string }
}) => {
  // The engine's own harness works in the sessions of this very server.
  const id = props.of.harness === "direct" ? props.of.harnessSessionId : undefined
  return id === undefined ? null : <a href={fragmentOf({ place: "session", id })}>session</a>
}
