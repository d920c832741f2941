/** Opens the session, holds the conversation, and closes everything before it returns the exit code. */
import { ReadStream, WriteStream } from "node:tty"

import type { World } from "@meridian/spaces"

import { converse } from "./conversation/conversation.ts"
import { openSession, type DirectLaunch } from "./open-session.ts"

export const startConversation = async (launch: DirectLaunch, world: World): Promise<number> => {
  const opened = await openSession(launch, world)
  try {
    const { stdin: input, stdout: output } = process
    if (!(input instanceof ReadStream) || !(output instanceof WriteStream)) return 2
    return await converse({
      opened,
      world,
      streams: { input, output },
      continued: launch.session.kind !== "new",
      firstPrompt: launch.file.prompt,
    })
  } finally {
    await opened.engine.close()
  }
}
