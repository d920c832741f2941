/**
 * One call of a tool: decodes the input, runs the operation in its own world, returns the answer or failure as MCP content.
 */
import { Failure, isJsonObject, oneLine, renderFailure, type Json, type JsonObject } from "@meridian/protocol"
import {
  decodeInput,
  Interrupted,
  renderWarning,
  sweepAtStart,
  warning,
  type Registration,
  type World,
} from "@meridian/spaces"

/** What the process provides to every call. The rest of the world belongs to the call. */
export type ServeWorld = Pick<
  World,
  | "env"
  | "cwd"
  | "clock"
  | "uuid"
  | "configPath"
  | "program"
  | "harnesses"
  | "checkHosts"
  | "lookUpNames"
  | "ownSpace"
>

export interface ToolCall {
  readonly registration: Registration
  readonly values: Readonly<Record<string, unknown>>
  /** Aborts when the client cancels, goes away, or the server stops. */
  readonly signal: AbortSignal
  readonly progress: (message: string) => void
}

export interface ToolAnswer {
  readonly isError: boolean
  readonly text: string
  /** Absent on failure, which would not fit the output schema. */
  readonly document?: JsonObject
}

/** Never throws. Even a bug becomes an error answer, because the server must keep running. */
export const callTool = async (call: ToolCall, base: ServeWorld): Promise<ToolAnswer> => {
  const warnings = new Set<string>()
  const stop = new AbortController()
  const cancel = (): void => stop.abort(new Interrupted("cancelled"))
  if (call.signal.aborted) cancel()
  else call.signal.addEventListener("abort", cancel, { once: true })
  const world: World = {
    ...base,
    mode: "agent",
    face: "tool",
    terminal: { stdin: false, stdout: false, stderr: false },
    stderr: { write: () => {} },
    warn: (code, facts) => void warnings.add(renderWarning(warning(code, facts))),
    progress: call.progress,
    signal: stop.signal,
    // Signals are for the server. A call only ever learns that it is cancelled.
    onSignal: () => () => {},
    confirm: () => Promise.resolve(false),
    json: true,
  }
  try {
    const { meta, load } = call.registration
    const input = decodeInput(meta, { values: call.values, face: "tool" })
    // Doctor does the same and reports it.
    const { space } = call.values
    if (meta.tool !== "doctor") await sweepAtStart(world, typeof space === "string" ? space : undefined)
    const operation = await load()
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- decodeInput checked the input against this very meta
    const output: Json = await operation.run(input as never, world)
    const document = withWarnings(output, warnings)
    return { isError: false, text: JSON.stringify(document), document }
  } catch (thrown) {
    return { isError: true, text: [...warnings, describe(thrown)].join("\n") }
  } finally {
    call.signal.removeEventListener("abort", cancel)
  }
}

/** Flat: `warning` is a field beside the others, and absent without warnings. */
const withWarnings = (output: Json, warnings: ReadonlySet<string>): JsonObject => {
  const document = isJsonObject(output) ? output : { result: output }
  return warnings.size === 0 ? document : { ...document, warning: [...warnings].join("\n") }
}

const describe = (thrown: unknown): string => {
  if (thrown instanceof Failure) return renderFailure(thrown)
  if (thrown instanceof Interrupted)
    return renderFailure(new Failure("INTERRUPTED", { signal: thrown.signal }))
  const cause = thrown instanceof Error ? thrown : new Error(String(thrown))
  const facts = { cause: oneLine(cause.message, 2_000).replace(/\.$/, "") }
  return renderFailure(new Failure("syscall" in cause ? "SYSTEM_ERROR" : "INTERNAL", facts))
}
