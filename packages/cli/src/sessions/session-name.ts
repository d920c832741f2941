/**
 * How a session is named across harnesses: `claude:ID`, `codex:ID`, `opencode:ID`, `pi:ID`, and an engine session by
 * its id alone. Also the command line that continues it. Pure.
 */
import { shellLine } from "@meridian/spaces"

import { KEEPERS, type Keeper } from "./harness-places.ts"

export interface SessionName {
  readonly keeper: Keeper
  readonly id: string
}

/** Our own ids may contain a colon, so only the names of harnesses are prefixes. */
export const readSessionName = (text: string): SessionName => {
  const at = text.indexOf(":")
  const keeper = KEEPERS.find((known) => known === text.slice(0, at))
  return keeper === undefined || at === -1
    ? { keeper: "engine", id: text }
    : { keeper, id: text.slice(at + 1) }
}

export const sessionName = ({ keeper, id }: SessionName): string =>
  keeper === "engine" ? id : `${keeper}:${id}`

/** `place`: where the session works. Harnesses search for it from there. */
export const continueLine = (
  { keeper, id }: SessionName,
  {
    place,
    file,
    database,
  }: { readonly place: string | undefined; readonly file: string; readonly database?: string | undefined },
): string => {
  const command = [...COMMANDS[keeper](id, file), ...(database === undefined ? [] : ["--database", database])]
  return place === undefined ? shellLine(command) : `cd ${shellLine([place])} && ${shellLine(command)}`
}

const COMMANDS: Readonly<Record<Keeper, (id: string, file: string) => readonly string[]>> = {
  engine: (id) => ["meridian", "direct", "--continue", id],
  claude: (id) => ["claude", "--resume", id],
  codex: (id) => ["codex", "resume", id],
  opencode: (id) => ["opencode", "--session", id],
  pi: (_id, file) => ["pi", "--session", file],
}
