/** `/undo` and `/redo`: asks the engine, asks the person about files that were changed since, and reports the result. */
import type { SessionsApi, UndoResult } from "@meridian/engine"
import { Failure, oneLine } from "@meridian/protocol"

export interface UndoWish {
  readonly count: number
  readonly conversation: boolean
  readonly files: boolean
}

export interface UndoCommands {
  /** The words of the first prompt that left the conversation, for rewording. Undefined if none did. */
  readonly undo: (wish: UndoWish) => Promise<string | undefined>
  readonly redo: () => Promise<void>
}

export interface UndoCommandOptions {
  readonly sessions: SessionsApi
  readonly sessionID: string
  readonly say: (text: string) => void
  /** Tells the model, with the next prompt. */
  readonly note: (text: string) => Promise<void>
  readonly confirm: (question: string) => Promise<boolean>
}

export const undoCommands = ({
  sessions,
  sessionID,
  say,
  note,
  confirm,
}: UndoCommandOptions): UndoCommands => {
  const asked = async (act: (overwrite: boolean) => Promise<UndoResult>): Promise<UndoResult | undefined> => {
    try {
      return await act(false)
    } catch (error) {
      if (!(error instanceof Failure && error.code === "FILES_CHANGED")) throw error
      if (await confirm(`${error.message} Overwrite them?`)) return await act(true)
      say("Nothing was taken back.")
      return undefined
    }
  }

  /** The model learns about files from its conversation. If that stays, the model must be told. */
  const tell = async ({ conversation, files, left, missed }: UndoResult, what: string): Promise<void> => {
    for (const { path, change } of files.slice(0, MOST_SHOWN)) say(`${change}: ${oneLine(path, 200)}`)
    if (files.length > MOST_SHOWN) say(`… and ${files.length - MOST_SHOWN} more`)
    for (const path of left) say(`${oneLine(path, 200)} stays as it is: it was changed since.`)
    for (const reason of missed) say(`Some files stay as they are: ${oneLine(reason)}.`)
    if (conversation || files.length === 0) return
    const named = files
      .slice(0, MOST_SHOWN)
      .map(({ path }) => path)
      .join(", ")
    await note(`I have ${what} your last changes to these files: ${named}.`)
  }

  return {
    undo: async (wish) => {
      const undone = await asked((overwrite) => sessions.undo({ sessionID, ...wish, overwrite }))
      if (undone === undefined) return undefined
      await tell(undone, "taken back")
      return undone.conversation ? undone.prompts[0]?.text : undefined
    },
    redo: async () => {
      const redone = await asked((overwrite) => sessions.redo({ sessionID, overwrite }))
      if (redone !== undefined) await tell(redone, "brought back")
    },
  }
}

const MOST_SHOWN = 40
