/** `meridian acp-agent`: an agent of the user's configuration, with a terminal or without. */
import { readFileSync } from "node:fs"

import { Failure } from "@meridian/protocol"
import { implement, isAcp, readAcpCommand, type InputOf, type World } from "@meridian/spaces"

import type { AgentLaunch } from "../acp-agent/launch.ts"
import { ACP_AGENT } from "./acp-agent.meta.ts"

export const acpAgent = implement(ACP_AGENT, {
  run: async (input, world) => {
    if (!input.headless) {
      const { startConversation } = await import("../acp-agent/conversation.ts")
      return { exit_code: await startConversation(await readLaunch(input, world), world) }
    }
    const { readStdin } = await import("../read-stdin.ts")
    const { processOutput } = await import("../output.ts")
    const { runHeadless } = await import("../acp-agent/headless.ts")
    const exitCode = await runHeadless({
      launch: () => readLaunch(input, world),
      prompt: readStdin(),
      world,
      write: processOutput().json,
    })
    return { exit_code: exitCode }
  },
  text: () => "",
  exitCode: (output) => output.exit_code,
})

const readLaunch = async (input: InputOf<typeof ACP_AGENT.fields>, world: World): Promise<AgentLaunch> => {
  const id = `acp:${input.name ?? ""}`
  if (!isAcp(id)) throw new Failure("HARNESS_UNKNOWN", { harness: id.slice(0, 200) })
  const firstMessage = input.launch === undefined ? "" : readFileSync(input.launch, "utf8")
  const [program, ...words] = await readAcpCommand(id, world)
  return {
    name: input.name ?? "",
    command: [program, ...words, ...input.args],
    firstMessage,
    ...(input.continue === undefined ? {} : { session: input.continue }),
    ...(input.model === undefined ? {} : { model: input.model }),
    ...(input.permission === undefined ? {} : { permission: input.permission }),
  }
}
