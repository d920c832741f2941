/** Opens the session on the streams of this process, which must be a terminal. */
import { ReadStream, WriteStream } from "node:tty"

import { Failure } from "@meridian/protocol"
import { noteSession, type World } from "@meridian/spaces"

import { converse } from "./conversation/conversation.ts"
import { openSession, type DirectLaunch } from "./open-session.ts"

export const startConversation = async (launch: DirectLaunch, world: World): Promise<number> => {
  const { stdin: input, stdout: output } = process
  if (!(input instanceof ReadStream)) throw new Failure("TERMINAL_REQUIRED", { stream: "stdin" })
  if (!(output instanceof WriteStream)) throw new Failure("TERMINAL_REQUIRED", { stream: "stdout" })
  let next = launch
  for (;;) {
    const left = await converse({
      opened: await openSession(next, world, { recovery: "settle", asksPeople: true }),
      world,
      streams: { input, output },
      continued: next.session.kind !== "new",
      firstPrompt: next === launch ? launch.file.prompt : undefined,
    })
    if (left.tag === "leave") return left.code
    const session: DirectLaunch["session"] =
      left.tag === "new"
        ? { kind: "new", id: `ses_${world.uuid()}` }
        : { kind: "continue", id: left.sessionID }
    await noteSession({ from: next.session.id, to: session.id }, world)
    next = { ...launch, notices: [], session }
  }
}
