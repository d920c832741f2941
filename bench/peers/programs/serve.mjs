/**
 * What all programs of the comparison share: a line of JSON in, a line out. A program times its own turns, so the pipe
 * costs nothing. Run as `program.mjs FOLDER ADDRESS MARKS`. With MARKS, the tool takes 60 ms and writes a line there when
 * it starts and when it ends.
 */
import { appendFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"

const RESULT = "r".repeat(1024)
const TOOL_MS = 60
const MANY = 64

/** `open` returns `turn(session, text)`, `resume(session)` and `close()`. */
export const serve = async (open) => {
  const [folder, address, marks = ""] = process.argv.slice(2)
  const program = await open({ folder, address, tool: marks === "" ? () => RESULT : markedTool(marks) })
  const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`)
  say({ ready: true })
  for await (const line of createInterface({ input: process.stdin })) {
    const asked = JSON.parse(line)
    const started = performance.now()
    if (asked.verb === "turn") await program.turn(asked.session, asked.text)
    if (asked.verb === "resume") await program.resume(asked.session)
    if (asked.verb === "many") await many(program, asked.text, asked.turns)
    say({ ms: performance.now() - started })
  }
  await program.close()
  process.exit(0)
}

const many = (program, text, turns) =>
  Promise.all(
    Array.from({ length: MANY }, async (_unused, index) => {
      for (let turn = 0; turn < turns; turn += 1) await program.turn(`many${index}`, text)
    }),
  )

const markedTool = (marks) => async () => {
  appendFileSync(marks, "start\n")
  await sleep(TOOL_MS)
  appendFileSync(marks, "end\n")
  return RESULT
}
