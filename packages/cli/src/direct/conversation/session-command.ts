/** What slash commands do to a session, and what they show of it. What was typed is read elsewhere. */
import { engineModelId } from "@meridian/spaces"

import { idsOf } from "../open-engine-here.ts"
import type { OpenSession } from "../open-session.ts"
import { listChoices } from "./describe.ts"
import { SLASH_COMMANDS } from "./slash-command.ts"
import type { Style } from "./style.ts"
import type { Work } from "./work.ts"

export const HELP = [
  ...SLASH_COMMANDS.map(([name, rest, says]) => `${`${name} ${rest}`.padEnd(16)} ${says}`),
  "Enter sends; while the agent works, it joins the work in hand. Alt-Enter begins a new line.",
  "Ctrl-C stops the work; again, or when idle, it leaves. Ctrl-D leaves.",
].join("\n")

const MOST_CHOICES = 40

export interface SessionCommands {
  readonly compact: () => Promise<void>
  /** Without a name: what there is. The same for the agent. */
  readonly model: (name: string | undefined) => Promise<void>
  readonly agent: (name: string | undefined) => Promise<void>
}

export interface SessionCommandOptions {
  readonly opened: OpenSession
  readonly style: Style
  readonly work: Pick<Work, "watch">
  /** What the session uses now. */
  readonly current: () => { readonly model: string; readonly agent: string }
  readonly tell: (...rows: readonly string[]) => void
  /** The same for a text that is still to be broken into rows. */
  readonly say: (text: string, colour: (row: string) => string) => void
}

export const sessionCommands = ({
  opened,
  style,
  work,
  current,
  tell,
  say,
}: SessionCommandOptions): SessionCommands => {
  const { sessions } = opened.engine
  const sessionID = opened.session.id
  return {
    compact: async () => {
      say("Compacting…", style.dim)
      // What came of it is an event.
      const asked = sessions.compact(sessionID)
      await work.watch(asked)
      await asked
    },
    model: async (name) => {
      if (name !== undefined)
        return sessions.switchModel({ sessionID, model: engineModelId(idsOf(opened.models), name) })
      tell(...modelRows(opened, current().model, style))
    },
    agent: async (name) => {
      if (name !== undefined) return sessions.switchAgent({ sessionID, agent: name })
      tell(...listChoices(opened.agents, current().agent))
    },
  }
}

const modelRows = (
  { models, unusable }: Pick<OpenSession, "models" | "unusable">,
  current: string,
  style: Style,
): readonly string[] => {
  const names = idsOf(models)
  const more = unusable.length
  return [
    ...listChoices(names.slice(0, MOST_CHOICES), current),
    ...(names.length <= MOST_CHOICES ? [] : [style.dim(`… and ${names.length - MOST_CHOICES} more`)]),
    ...(more === 0
      ? []
      : [
          style.dim(
            `${more} more ${more === 1 ? "is" : "are"} known; 'meridian models list' says what ${more === 1 ? "it needs" : "they need"}.`,
          ),
        ]),
  ]
}
