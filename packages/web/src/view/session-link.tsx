import { fragmentOf } from "../domain/route.ts"

/** A link to the session of a chat or run, when this server has it. */
export const SessionLink = (props: {
  readonly of: { readonly harness?: string; readonly harnessSessionId?: string }
}) => {
  // The engine's own harness works in the sessions of this server.
  const id = props.of.harness === "direct" ? props.of.harnessSessionId : undefined
  return id === undefined ? null : <a href={fragmentOf({ place: "session", id })}>session</a>
}
