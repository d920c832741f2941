/**
 * The scripted model of the demo. It has no memory: each answer follows from the request alone. So when the window or the
 * process is gone, it can only continue because the engine showed it what it needs.
 */
import { appendFileSync } from "node:fs"

import type { Reply, ScriptRequest } from "../packages/engine/dist/index.js"
import { DECISION, OBJECTIVE, PLAN, RULE, TODO } from "./project.ts"

export const DECLARED = ["objective", "decision", "rule", "todo"] as const

/** What the model saw in one request, recorded before it answers. */
export type Probe =
  | {
      readonly kind: "turn"
      /** The step it is about to take. */
      readonly step: number
      /** Whether a checkpoint replaces what came before. */
      readonly compacted: boolean
      readonly sees: Readonly<Record<(typeof DECLARED)[number], boolean>>
    }
  /** For a summariser: the steps it was told about, and those it passed on. */
  | { readonly kind: "summary"; readonly told: number; readonly kept: number }

export const createModel =
  (probeFile: string) =>
  (request: ScriptRequest): Reply => {
    const text = JSON.stringify(request.body)
    const { probe, reply } = text.includes("Write the checkpoint now") ? forgetHalf(text) : takeStep(text)
    appendFileSync(probeFile, `${JSON.stringify(probe)}\n`)
    return { ...reply, usage: { input: tokensOf(text), output: tokensOf(JSON.stringify(reply)) } }
  }

/** Roughly as providers count: four characters per token. */
const tokensOf = (text: string): number => Math.ceil(text.length / 4)

interface Answer {
  readonly probe: Probe
  readonly reply: Reply
}

const takeStep = (text: string): Answer => {
  const step = nextStep(text)
  const next = PLAN[step]
  return {
    probe: {
      kind: "turn",
      step,
      compacted: text.includes("<checkpoint>"),
      sees: {
        objective: text.includes(OBJECTIVE),
        decision: text.includes(DECISION),
        rule: text.includes(RULE),
        todo: text.includes(TODO),
      },
    },
    reply:
      next === undefined
        ? { text: "The tests pass. Done." }
        : { text: `[step ${step}] ${next.say}`, tools: [{ name: next.tool, input: { ...next.input } }] },
  }
}

/** The newest step that it can see itself having taken, plus one. */
const nextStep = (text: string): number => {
  const taken = [...text.matchAll(/\[step (\d+)\]/g)].map((match) => Number(match[1]))
  return taken.length === 0 ? 0 : Math.max(...taken) + 1
}

/** A bad summariser: it passes on every second step that it is told about, and nothing else. */
const forgetHalf = (text: string): Answer => {
  const told = [...new Set([...text.matchAll(/\[step \d+\] [^"\\]+/g)].map((match) => match[0]))]
  const kept = told.filter((_line, index) => index % 2 === 0)
  return {
    probe: { kind: "summary", told: told.length, kept: kept.length },
    reply: { text: ["## Work State", ...kept.map((line) => `- ${line}`)].join("\n") },
  }
}
