/**
 * One operation, three faces: a command, an MCP tool (when it names one) and a section of the reference page.
 *
 * The meta (`run-list.meta.ts`) is all that help, completion, MCP listing and the reference need, and imports nothing
 * heavy; the implementation (`run-list.ts`) is reached through `import()` in `registry.ts`, only when it runs.
 */
import type { Json, Shape } from "@meridian/protocol"

import type { Fields, InputOf } from "./field.ts"
import type { World } from "./world.ts"

export interface OperationMeta<F extends Fields = Fields, Output extends Json = Json> {
  /** `run.spawn` is the command `meridian run spawn`. */
  readonly name: string
  /** `agent`: shown and offered to agents and to people. `human`: to people only, and never an MCP tool. */
  readonly audience: "human" | "agent"
  /** One sentence, as help shows it. */
  readonly summary: string
  /** Paragraphs below the flags in `--help` and on the reference page. */
  readonly details?: string
  /** Command lines without the leading `meridian`. */
  readonly examples?: readonly string[]
  readonly fields: F
  readonly output: Shape<Output>
  /** Name of the MCP tool, if it is one. */
  readonly tool?: string
  /** What a caller of the tool should know besides the summary. `details` is about flags and streams. */
  readonly toolDetails?: string
  /** `text`: text in both modes unless JSON is asked for (`run spawn`). Default: JSON in agent mode. */
  readonly format?: "text" | "by-mode"
  /** Harness flags that `start` passes on. They arrive as `passthrough`, in the given order. */
  readonly passthrough?: readonly PassthroughFlag[]
  /** Works, but help and completion do not show it (the background worker). */
  readonly hidden?: true
}

export interface PassthroughFlag {
  /** With dashes. */
  readonly flag: string
  /** How many words after the flag belong to it; `many` takes all up to the next flag. */
  readonly values: "none" | "one" | "optional" | "many"
}

/** Passed to `run` besides its fields. */
export interface Passthrough {
  /** The words of all passthrough flags, in the given order: `["--append-system-prompt", "TEXT", "--chrome"]`. */
  readonly passthrough: readonly string[]
  /** Fields the caller set, without defaults: needed to let explicit flags override. */
  readonly given: ReadonlySet<string>
}

export interface Operation<F extends Fields = Fields, Output extends Json = Json> {
  /** Throws a Failure for every problem that fits a sentence. */
  readonly run: (input: InputOf<F> & Passthrough, world: World) => Promise<Output>
  /** The text on stdout for a person, without a last newline. "" prints nothing. */
  readonly text: (output: Output, input: InputOf<F> & Passthrough) => string
  /** Text mode only: lines for stderr after the result (metadata of a run). */
  readonly notes?: (output: Output, input: InputOf<F> & Passthrough) => string
  /** 0 when left out. A failed run is an answer with exit code 1, not a Failure. */
  readonly exitCode?: (output: Output) => number
}

/** One row of a registry. `load` is the only way to the implementation. */
export interface Registration {
  readonly meta: OperationMeta
  readonly load: () => Promise<ErasedOperation>
}

/** An operation whose input type is checked by `decodeInput` at the edge instead of by the compiler. */
export interface ErasedOperation {
  readonly run: (input: never, world: World) => Promise<Json>
  readonly text: (output: never, input: never) => string
  readonly notes?: (output: never, input: never) => string
  readonly exitCode?: (output: never) => number
}

export const defineMeta = <const F extends Fields, Output extends Json>(
  meta: OperationMeta<F, Output>,
): OperationMeta<F, Output> => meta

/** Ties an implementation to its meta, so that input and output types follow from it. */
export const implement = <F extends Fields, Output extends Json>(
  _meta: OperationMeta<F, Output>,
  operation: Operation<F, NoInfer<Output>>,
): Operation<F, Output> => operation

/** A row of a registry. Both arguments must describe the same operation. */
export const register = <F extends Fields, Output extends Json>(
  meta: OperationMeta<F, Output>,
  load: () => Promise<Operation<F, Output>>,
): Registration => ({ meta, load })
