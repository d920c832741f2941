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
  return converse({
    opened: await openSession(launch, world),
    world,
    streams: { input, output },
    continued: launch.session.kind !== "new",
    firstPrompt: launch.file.prompt,
  })
}
