/** The hooks of the active extensions, called one after the other in the order they were added. */
import { ANY, Failure, objectOf, reader, something, STRING } from "@meridian/protocol"
import { Effect } from "effect"

import { LIMITS } from "../domain/limits.ts"
import type {
  ActiveHooks,
  CallView,
  HookFailure,
  Hooked,
  LetThrough,
  SuppliedSummary,
} from "../port/hooks.ts"
import type { ModelRequest } from "../port/model.ts"
import type { ToolOutput } from "../port/tool.ts"
import { callHook, hasHook, type HookAnswer, type Registered } from "./call-hook.ts"
import type { HookName } from "./extension.ts"
import { freeze, type FrozenMessages } from "./frozen-messages.ts"
import { applyView, viewOf } from "./request-view.ts"

export interface HookConditions {
  readonly extensions: readonly Registered[]
  readonly frozen: FrozenMessages
  /** Whether the value is valid as the output of a tool. */
  readonly isToolOutput: (value: unknown) => value is ToolOutput
  /** Bounds an output before it goes to the model and into the log. */
  readonly bound: (output: ToolOutput) => Promise<ToolOutput>
}

/** Undefined when no extension has a hook. */
export const activeHooks = (conditions: HookConditions): ActiveHooks | undefined => {
  const { extensions, frozen, isToolOutput, bound } = conditions
  const having = (hook: HookName): readonly Registered[] => extensions.filter((one) => hasHook(one, hook))
  const hooks: { -readonly [Name in keyof ActiveHooks]: ActiveHooks[Name] } = {}

  const requesting = having("beforeRequest")
  if (requesting.length > 0)
    hooks.beforeRequest = (request, asked) =>
      inOrder<ModelRequest>(requesting, request, (one, current) => {
        const view = viewOf(current, asked, frozen)
        return callHook(one, "beforeRequest", {
          view,
          read: (answer) => applyView(current, view, answer, frozen),
        })
      })

  const calling = having("beforeTool")
  if (calling.length > 0)
    hooks.beforeTool = (call) =>
      inOrder<LetThrough>(calling, { kind: "made", input: call.input, by: undefined }, (one, current) =>
        current.kind === "refused"
          ? Effect.succeed({ kind: "nothing" })
          : callHook(one, "beforeTool", {
              view: frozenView({ ...call, input: current.input }),
              read: (answer) => readDecision(answer, { call, current, by: one.extension.name }),
            }),
      )

  const ending = having("afterTool")
  if (ending.length > 0)
    hooks.afterTool = (result) =>
      Effect.flatMap(
        inOrder<ToolOutput | undefined>(ending, result.output, (one, output) =>
          callHook(one, "afterTool", {
            view: frozenView({ ...result, ...(output === undefined ? {} : { output }) }),
            read: (answer) => (output === undefined ? output : readResult(answer, isToolOutput)),
          }),
        ),
        ({ value, failures }) =>
          value === undefined || value === result.output
            ? Effect.succeed({ value: result.output, failures })
            : Effect.map(
                Effect.promise(() => bound(value)),
                (bounded) => ({ value: bounded, failures }),
              ),
      )

  const watching = having("afterTurn")
  if (watching.length > 0)
    hooks.afterTurn = (turn) =>
      inOrder<undefined>(watching, undefined, (one) =>
        callHook(one, "afterTurn", { view: frozenView(turn), read: () => undefined }),
      )

  const compacting = having("onCompaction")
  if (compacting.length > 0)
    hooks.onCompaction = (compaction) =>
      inOrder<(SuppliedSummary & { readonly by: string }) | undefined>(compacting, undefined, (one, given) =>
        given === undefined
          ? callHook(one, "onCompaction", {
              view: frozenView(compaction),
              read: (answer) => ({ ...readSummary(answer), by: one.extension.name }),
            })
          : Effect.succeed({ kind: "nothing" }),
      )

  return Object.keys(hooks).length === 0 ? undefined : hooks
}

/** Each extension gets what the previous one returned. One that fails is skipped. */
const inOrder = <Value>(
  extensions: readonly Registered[],
  first: Value,
  ask: (one: Registered, current: Value) => Effect.Effect<HookAnswer<Value>>,
): Effect.Effect<Hooked<Value>> =>
  Effect.gen(function* () {
    const failures: HookFailure[] = []
    let value = first
    for (const one of extensions) {
      const answer = yield* ask(one, value)
      if (answer.kind === "answer") value = answer.value
      if (answer.kind === "failed") failures.push(answer.failure)
    }
    return { value, failures }
  })

const frozenView = <View>(view: View): View => freeze(structuredClone(view))

const REFUSAL = reader(objectOf({ refuse: STRING }), { what: "The refusal of a call" })
const CALL = reader(
  objectOf(
    { input: ANY },
    { sessionID: STRING, agent: STRING, messageID: STRING, callID: STRING, tool: STRING },
  ),
  { what: "The call" },
)

const readDecision = (
  answer: unknown,
  {
    call,
    current,
    by,
  }: {
    readonly call: CallView
    readonly current: LetThrough & { readonly kind: "made" }
    readonly by: string
  },
): LetThrough => {
  if (typeof answer === "object" && answer !== null && "refuse" in answer)
    return { kind: "refused", why: REFUSAL(answer).refuse.slice(0, LIMITS.hookMessageCharacters), by }
  const { input, tool } = CALL(answer)
  if (tool !== undefined && tool !== call.tool) throw invalid("a call cannot become one of another tool")
  const text = JSON.stringify(input)
  if (text === JSON.stringify(current.input)) return current
  if (text.length > LIMITS.hookCharacters)
    throw invalid(`the input of a call may have ${LIMITS.hookCharacters} characters at most`)
  return { kind: "made", input: structuredClone(input), by }
}

const readOutput = reader(
  objectOf({ output: something<unknown>("the output of a tool", (value) => value !== undefined) }),
  { what: "The result", unknown: "strip" },
)

const readResult = (answer: unknown, isToolOutput: HookConditions["isToolOutput"]): ToolOutput => {
  const { output } = readOutput(answer)
  if (!isToolOutput(output)) throw invalid("`output` is not what a tool answers with")
  return structuredClone(output)
}

const readSummary = reader(objectOf({ summary: STRING }), { what: "The summary" })

const invalid = (what: string): Failure => new Failure("INVALID_INPUT", { what })
