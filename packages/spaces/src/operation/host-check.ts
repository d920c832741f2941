/** Whether our hook or plugin is in another vendor's harness, and whether it does anything. */
import { BOOLEAN, INTEGER, STRING, described, listOf, objectOf, oneOf, type TypeOf } from "@meridian/protocol"

export const HOST_CHECK = objectOf(
  {
    host: oneOf("claude", "codex", "opencode"),
    connected: described(BOOLEAN, "Our hook or plugin is there."),
    current: described(BOOLEAN, "It is what this version installs."),
    beside: described(listOf(STRING), "Others that work on compactions of the same harness."),
  },
  {
    place: STRING,
    last_injection: objectOf({ at: STRING, tokens: INTEGER, session: STRING }),
    note: STRING,
  },
)

export type HostCheck = TypeOf<typeof HOST_CHECK>

/** What a check needs to know about a harness. */
export interface KnownHarness {
  readonly harness: string
  readonly version?: string | undefined
}

/** At most three lines, for people. */
export const hostLines = (check: HostCheck): readonly string[] => {
  const { host, connected, current, place, last_injection: last, beside, note } = check
  const state = connected ? (current ? "connected" : "connected by another version") : "not connected"
  const injected =
    last === undefined
      ? "nothing injected yet"
      : `last injection ${last.at}, ${last.tokens} tokens, session ${last.session}`
  return [
    `continuity: ${host}: ${state}${place === undefined ? "" : ` (${place})`}; ${injected}`,
    ...(beside.length === 0 ? [] : [`continuity: ${host}: also works on compactions: ${beside.join(", ")}`]),
    ...(note === undefined ? [] : [`continuity: ${host}: ${note}`]),
  ]
}
