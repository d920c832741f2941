/**
 * An engine of its own process that keeps, takes back and brings back the files of one prompt, and may be killed at any step of
 * it (`crash-steps.ts`). Its arguments: database, project. It says how far it is.
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
