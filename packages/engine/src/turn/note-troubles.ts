/** What was added to the engine and does not work is said in the log of the session that goes on without it. */
import { Failure, type DurableEvent } from "@meridian/protocol"
import { Effect } from "effect"

import { LIMITS } from "../domain/limits.ts"
import type { Trouble } from "../port/location.ts"
import type { TurnScene } from "../session/index.ts"

export const noteTroubles = ({ session, location }: TurnScene): Effect.Effect<void, Failure> =>
  Effect.suspend(() => {
    const troubles = location.troubles?.(session.id) ?? []
    return troubles.length === 0 ? Effect.void : session.append(troubles.map(toolingFailed))
  })

export const toolingFailed = ({ kind, name, hook, problem: whole }: Trouble): DurableEvent => {
  const problem = whole.slice(0, LIMITS.recordedErrorCharacters)
  const { code, message } =
    kind === "mcp"
      ? new Failure("MCP_UNAVAILABLE", { server: name, problem })
      : new Failure("EXTENSION_FAILED", { extension: name, hook: hook ?? "its code", problem })
  return {
    type: "session.next.tooling.failed.1",
    data: { kind, name, ...(hook === undefined ? {} : { hook }), error: { code, message } },
  }
}
