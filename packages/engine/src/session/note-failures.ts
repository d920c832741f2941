/** Records extensions and MCP servers that do not work in the log of the session that continues without them. */
import { Failure, type DurableEvent } from "@meridian/protocol"
import { Effect } from "effect"

import { LIMITS } from "../domain/limits.ts"
import type { HookFailure } from "../port/hooks.ts"
import type { Trouble } from "../port/location.ts"
import type { SessionHandle } from "./session-handle.ts"

export const noteFailures = (
  session: SessionHandle,
  failures: readonly HookFailure[],
): Effect.Effect<void, Failure> =>
  noteTrouble(
    session,
    failures.map(({ extension, hook, message }) => ({
      kind: "extension",
      name: extension,
      hook,
      problem: message,
    })),
  )

export const noteTrouble = (
  session: SessionHandle,
  troubles: readonly Trouble[],
): Effect.Effect<void, Failure> =>
  troubles.length === 0 ? Effect.void : session.append(troubles.map(toolingFailed))

const toolingFailed = ({ kind, name, hook, problem: whole }: Trouble): DurableEvent => {
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
