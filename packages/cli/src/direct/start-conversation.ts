/** Opens the session on the streams of this process, which must be a terminal. */
import { ReadStream, WriteStream } from "node:tty"

import { Failure } from "@meridian/protocol"
import type { World } from "@meridian/spaces"

import { converse } from "./conversation/conversation.ts"
import { openSession, type DirectLaunch } from "./open-session.ts"

export const startConversation = async (launch: DirectLaunch, world: World): Promise<number> => {
  const { stdin: input, stdout: output } = process
  if (!(input instanceof ReadStream)) throw new Failure("TERMINAL_REQUIRED", { stream: "stdin" })
  if (!(output instanceof WriteStream)) throw new Failure("TERMINAL_REQUIRED", { stream: "stdout" })
  let next = launch
  for (;;) {
    const left = await converse({
      opened: await openSession(next, world),
      world,
      streams: { input, output },
      continued: next.session.kind !== "new",
      firstPrompt: next === launch ? launch.file.prompt : undefined,
    })
    switch (left.tag) {
      case "leave":
        return left.code
      case "new":
        next = { ...launch, notices: [], session: { kind: "new", id: `ses_${world.uuid()}` } }
        break
      case "open":
        next = { ...launch, notices: [], session: { kind: "continue", id: left.sessionID } }
        break
    }
  }
}
