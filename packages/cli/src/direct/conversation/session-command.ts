/** What slash commands do to a session, and what they show. The typed text is parsed elsewhere. */
import type { SessionInfo } from "@meridian/engine"
import { oneLine } from "@meridian/protocol"
import { engineModelId } from "@meridian/spaces"

import { idsOf } from "../open-engine-here.ts"
import type { OpenSession } from "../open-session.ts"
import { listChoices } from "./describe.ts"
import { SLASH_COMMANDS } from "./slash-command.ts"
import type { Style } from "./style.ts"
import { undoCommands, type UndoCommands } from "./undo-command.ts"
import type { Work } from "./work.ts"

export const HELP = [
  ...SLASH_COMMANDS.map(([name, rest, says]) => `${`${name} ${rest}`.padEnd(16)} ${says}`),
  "Enter sends; while the agent works, it joins the current work. Alt-Enter begins a new line.",
  "Tab completes commands and @files. Ctrl-R searches what you wrote before.",
  "An image named by its path goes along; Ctrl-V takes one from the clipboard.",
  "Ctrl-C stops the work; a second one leaves. Ctrl-D leaves.",
].join("\n")

const MOST_CHOICES = 40

export interface SessionCommands extends UndoCommands {
  readonly compact: () => Promise<void>
  /** Without a name: lists the models. The same for the agent. */
  readonly model: (name: string | undefined) => Promise<void>
  readonly agent: (name: string | undefined) => Promise<void>
  /** Lists the newest sessions of this project with numbers. Returns the id of the session chosen by number or id. */
  readonly sessions: (choice: string | undefined) => Promise<string | undefined>
}

export interface SessionCommandOptions {
  readonly opened: OpenSession
  readonly style: Style
  readonly work: Pick<Work, "watch" | "isWorking">
  /** What the session uses now. */
  readonly current: () => { readonly model: string; readonly agent: string }
  /** Tells the model, with the next prompt. */
  readonly note: (text: string) => Promise<void>
  readonly confirm: (question: string) => Promise<boolean>
  readonly tell: (...rows: readonly string[]) => void
  /** The same for a text that must still be wrapped. */
  readonly say: (text: string, colour: (row: string) => string) => void
}

export const sessionCommands = ({
  opened,
  style,
  work,
  current,
  note,
  confirm,
  tell,
  say,
}: SessionCommandOptions): SessionCommands => {
  const { sessions } = opened.engine
  const sessionID = opened.session.id
  return {
    ...undoCommands({ sessions, sessionID, note, confirm, say: (text) => say(text, style.notice) }),
    compact: async () => {
      say("Compacting…", style.dim)
      // An event reports the result.
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
    sessions: async (choice) => {
      const { items } = await sessions.list({ limit: 200, order: "desc" })
      const here = items.filter(
        ({ archived, parent, location }) =>
          archived !== true &&
          parent === undefined &&
          location.directory === opened.session.location.directory,
      )
      const listed = here.slice(0, MOST_CHOICES)
      if (choice === undefined) {
        tell(...listed.map((session, index) => sessionRow(session, index + 1, sessionID)))
        say("/sessions NUMBER opens one.", style.dim)
        return undefined
      }
      const chosen = listed[Number(choice) - 1] ?? items.find(({ id }) => id === choice)
      if (chosen === undefined) {
        say(`There is no session ${oneLine(choice, 100)}; /sessions shows them.`, style.notice)
        return undefined
      }
      return chosen.id
    },
  }
}

const sessionRow = (session: SessionInfo, number: number, current: string): string =>
  [
    session.id === current ? "*" : " ",
    String(number).padStart(2),
    new Date(session.time.updated).toISOString().slice(0, 16).replace("T", " "),
    oneLine(session.title ?? session.id, 100),
  ].join(" ")

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
