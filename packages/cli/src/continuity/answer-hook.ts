/**
 * One call of a hook: what it prints for the host, and what it records about it. A hook never fails its host's turn:
 * any problem is a warning, and the answer is empty.
 */
import { join } from "node:path"

import {
  contradiction,
  estimateTokens,
  inventedClaims,
  recordInjection,
  sanitizeLine,
  takeOffer,
  type BriefMode,
  type Injection,
} from "@meridian/continuity"
import { sayOffer } from "@meridian/protocol"

import { stateFolder } from "../sessions/harness-places.ts"
import type { HookInput } from "./hook-input.ts"
import { ledgerForHost, pinForHost, type HostPinQuery } from "./host-pin.ts"

export interface HookAnswer {
  /** The text for stdout. Empty if there is nothing to say. */
  readonly output: string
  /** The part of it that the model will read. */
  readonly text: string
  readonly mode: BriefMode
  readonly artifact: string | undefined
  readonly warnings: readonly string[]
}

export interface HookCall extends HostPinQuery {
  readonly now: () => Date
  /** Monotonic milliseconds. */
  readonly clock: () => number
}

export const answerHook = async (call: HookCall): Promise<HookAnswer> => {
  try {
    if (call.input?.event === "PostToolUse") return afterTool(call)
    return call.input?.event === "PostCompact" ? afterSummary(call, call.input) : await atStart(call)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { ...NOTHING, warnings: [sanitizeLine(`the hook failed: ${reason}`)] }
  }
}

const NOTHING: HookAnswer = { output: "", text: "", mode: "generic", artifact: undefined, warnings: [] }

const atStart = async (call: HookCall): Promise<HookAnswer> => {
  const begun = call.clock()
  const pin = await pinForHost(call)
  const { pinned: text, warnings, mode, artifact, facts } = pin
  record(call, {
    request: "main request",
    texts: text === "" ? [] : [text],
    tokens: estimateTokens(text),
    ms: Math.round(call.clock() - begun),
    facts: facts.filter(({ source }) => source !== "default"),
    invented: pin.ledger.compactions.at(-1)?.invented ?? [],
    warnings,
    ...(call.host === "codex" ? summaryOf(pin.ledger.compactions.at(-1)?.summary) : {}),
  })
  return { output: asContext("SessionStart", text), text, mode, artifact, warnings }
}

const summaryOf = (summary: string | undefined): { readonly summary?: string } =>
  summary === undefined ? {} : { summary }

/** The summary is known now: names the words it invents for the user. */
const afterSummary = (call: HookCall, input: HookInput): HookAnswer => {
  const { summary = "" } = input
  const { ledger, warnings } = ledgerForHost(call)
  const said = ledger.prompts.map(({ text }) => text)
  const invented = ledger.promptsDropped > 0 || said.length === 0 ? [] : inventedClaims(summary, said)
  const text = invented.map((claim) => sanitizeLine(contradiction(claim), 600)).join("\n")
  record(call, {
    request: "summary",
    texts: text === "" ? [] : [text],
    tokens: estimateTokens(text),
    summary,
    invented,
  })
  return { ...NOTHING, output: asContext("PostCompact", text), text, warnings }
}

/** Delivers words that were sent to the run while it works. */
const afterTool = ({ env }: HookCall): HookAnswer => {
  const offer = takeOffer(env)
  const text = offer === undefined ? "" : sayOffer(offer)
  return { ...NOTHING, output: asContext("PostToolUse", text), text }
}

/** Both agents add `additionalContext` to a request. If there is nothing to say, nothing is printed. */
const asContext = (event: string, text: string): string =>
  text === "" ? "" : JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext: text } })

const record = (
  call: HookCall,
  injection: Omit<Injection, "at" | "host" | "session" | "directory">,
): void => {
  if (call.input === undefined) return
  recordInjection(join(stateFolder(call.env), "injections"), {
    at: call.now().toISOString(),
    host: call.host,
    session: call.input.session,
    directory: call.input.cwd ?? call.cwd,
    ...injection,
  })
}
