/**
 * The scripted model of the demo. It has no memory: each answer is worked out from the request alone, so when the window
 * or the process is gone it can only go on because the engine showed it what it needs.
 */
import { appendFileSync } from "node:fs"

import type { Reply, ScriptRequest } from "../packages/engine/dist/index.js"
import { DECISION, OBJECTIVE, PLAN, RULE } from "./project.ts"

export interface Probe {
  readonly kind: "turn" | "summary"
  /** The step it is about to take. */
  readonly step: number
  readonly compacted: boolean
  readonly sees: {
    readonly objective: boolean
    readonly decision: boolean
    readonly rule: boolean
    readonly todo: boolean
  }
}

export const createModel =
  (probeFile: string) =>
  (request: ScriptRequest): Reply => {
    const text = JSON.stringify(request.body)
    const asksForSummary = text.includes("Write the checkpoint now")
    const step = nextStep(text)
    const probe: Probe = {
      kind: asksForSummary ? "summary" : "turn",
      step,
      compacted: text.includes("<checkpoint>"),
      sees: {
        objective: text.includes(OBJECTIVE),
        decision: text.includes(DECISION),
        rule: text.includes(RULE),
        todo: text.includes("fix the rounding in src/invoice.js"),
      },
    }
    appendFileSync(probeFile, `${JSON.stringify(probe)}\n`)
    if (asksForSummary) return { text: forgetHalf(text) }
    const next = PLAN[step]
    if (next === undefined) return { text: "The tests pass. Done." }
    return { text: `[step ${step}] ${next.say}`, tools: [{ name: next.tool, input: { ...next.input } }] }
  }

/** The newest step it can see itself having taken, plus one. */
const nextStep = (text: string): number => {
  const taken = [...text.matchAll(/\[step (\d+)\]/g)].map((match) => Number(match[1]))
  return taken.length === 0 ? 0 : Math.max(...taken) + 1
}

/** A bad summariser: it keeps every second thing it was told, and none of the rules. */
const forgetHalf = (text: string): string => {
  const said = [...text.matchAll(/\[step \d+\] [^"\\]+/g)].map((match) => match[0])
  return ["## Work State", ...said.filter((_line, index) => index % 2 === 0).map((line) => `- ${line}`)].join(
    "\n",
  )
}
