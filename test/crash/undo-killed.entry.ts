/**
 * An engine in a separate process that keeps, takes back and brings back the files of one prompt. It may be killed at any
 * step (`crash-steps.ts`). Its arguments: database, project. It prints its progress.
 */
import { openEngineWith } from "../../packages/engine/src/open-engine.ts"
import { installCrash } from "../scene/crash-steps.ts"
import { FIRST, SES, undoOptions } from "./undo-worker.ts"

const [, , database = "", directory = ""] = process.argv
// oxlint-disable-next-line node/no-process-env -- a program of its own: this is where its environment comes in
const { env } = process

let isArmed = false
let step = (): void => undefined
const { sessions, close } = await openEngineWith(undoOptions(database), {
  sqlite: {
    tap: (point) => {
      if (isArmed && point !== "flush") step()
    },
  },
})
await sessions.create({ id: SES.sessionID, location: { directory } })
step = installCrash(env)
isArmed = true

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}
await sessions.prompt({ ...SES, prompt: { text: FIRST } })
await sessions.wait(SES.sessionID)
say("kept")
await sessions.undo(SES)
say("undone")
await sessions.redo(SES)
say("redone")
isArmed = false
await close()
