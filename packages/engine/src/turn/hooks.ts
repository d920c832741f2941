/** Where a turn lets extensions take part. A hook that fails is recorded, and the work continues without it. */
import { messageId, type DurableEvent, type Failure, type MessageId } from "@meridian/protocol"
import { Effect } from "effect"

import type { CallView } from "../port/hooks.ts"
import type { ModelRequest } from "../port/model.ts"
import { ToolError, type ToolOutput } from "../port/tool.ts"
import { noteFailures, type SessionHandle, type TurnScene } from "../session/index.ts"

type Scene = Pick<TurnScene, "session" | "cast">

export const extendRequest = (
  { session, cast }: Scene,
  request: ModelRequest,
): Effect.Effect<ModelRequest, Failure> => {
  const asked = { agent: cast.agent.name, model: cast.model.id }
  const extended = cast.hooks?.beforeRequest?.(request, asked)
  if (extended === undefined) return Effect.succeed(request)
  return Effect.flatMap(extended, ({ value, failures }) => Effect.as(noteFailures(session, failures), value))
}

/** Shows extensions the turn as the log has it now. */
export const watchTurn = ({ session, cast }: Scene, step: MessageId): Effect.Effect<void, Failure> =>
  Effect.suspend(() => {
    const { afterTurn } = cast.hooks ?? {}
    if (afterTurn === undefined) return Effect.void
    const turn = session
      .transcript()
      .conversation.items.findLast((item) => item.kind === "assistant" && item.id === step)
    if (turn?.kind !== "assistant") return Effect.void
    const view = {
      sessionID: session.id,
      agent: cast.agent.name,
      model: cast.model.id,
      messageID: step,
      text: turn.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""),
      calls: turn.parts.flatMap((part) =>
        part.type === "tool" ? [{ callID: part.callID, tool: part.tool }] : [],
      ),
    }
    return Effect.flatMap(afterTurn(view), ({ failures }) => noteFailures(session, failures))
  })

/** Runs an effect for the plain code of a call. */
type Run = <A>(effect: Effect.Effect<A, Failure | ToolError>) => Promise<A>

export interface HookedCall {
  readonly call: CallView
  readonly run: Run
  /** Makes the call with this input. */
  readonly make: (input: CallView["input"]) => Promise<ToolOutput>
}

/** A call with hooks: extensions see its input before it is made, and its result before that is recorded. */
export const callWithHooks = async (
  { session, cast: { hooks } }: Scene,
  { call, run, make }: HookedCall,
): Promise<ToolOutput> => {
  const input =
    hooks?.beforeTool === undefined ? call.input : await run(letThrough(session, call, hooks.beforeTool))
  const made = { ...call, input }
  const changed = input === call.input ? undefined : changedInput(input)
  const { afterTool } = hooks ?? {}
  /** Runs after every end of the call, even when it was told to stop: what the tool did has happened. */
  const look = async (result: Parameters<NonNullable<typeof afterTool>>[0]) => {
    if (afterTool === undefined) return undefined
    const { value, failures } = await run(afterTool(result))
    await run(noteFailures(session, failures))
    return value
  }
  let output: ToolOutput
  try {
    output = await make(input)
  } catch (cause) {
    const { code, message } =
      cause instanceof ToolError ? cause : { code: "failed" as const, message: String(cause) }
    await look({ ...made, error: { code, message } }).catch(() => undefined)
    throw cause
  }
  const seen = (await look({ ...made, output }).catch(() => output)) ?? output
  return changed === undefined
    ? seen
    : { ...seen, content: [...seen.content, { type: "text", text: changed }] }
}

/** The input for the call. An input that an extension changed is recorded before it is used. */
const letThrough = (
  session: SessionHandle,
  call: CallView,
  beforeTool: NonNullable<NonNullable<TurnScene["cast"]["hooks"]>["beforeTool"]>,
): Effect.Effect<CallView["input"], Failure | ToolError> =>
  Effect.gen(function* () {
    const { value, failures } = yield* beforeTool(call)
    yield* noteFailures(session, failures)
    if (value.kind === "refused")
      return yield* Effect.fail(
        new ToolError("denied", `Not run: the extension ${value.by} refused it: ${value.why}`),
      )
    if (value.by === undefined) return call.input
    const { safe } = yield* session.intend([adjusted(call, value.by, value.input)])
    yield* safe
    return value.input
  })

const adjusted = (
  { messageID, callID }: CallView,
  extension: string,
  input: CallView["input"],
): DurableEvent => ({
  type: "session.next.tool.adjusted.1",
  data: { assistantMessageID: messageId(messageID), callID, extension, input },
})

/** Tells the model which input was really used. */
const changedInput = (input: CallView["input"]): string =>
  `(An extension changed the input of this call to ${JSON.stringify(input).slice(0, 2_000)})`
