/** `meridian direct`: one session of the engine, with a terminal or without. */
import type { Effort } from "@meridian/engine"
import { Failure, sessionId } from "@meridian/protocol"
import {
  enterFolder,
  implement,
  readDirectParams,
  renderWarning,
  warning,
  type InputOf,
  type World,
} from "@meridian/spaces"

import type { DirectLaunch } from "../direct/open-session.ts"
import { readLaunchFile } from "../direct/read-launch-file.ts"
import { DIRECT } from "./direct.meta.ts"

type Input = InputOf<typeof DIRECT.fields>

export const direct = implement(DIRECT, {
  run: async (input, world) => {
    const launch = readLaunch(input, world)
    if (input.headless) {
      const { readStdin } = await import("../read-stdin.ts")
      const { processOutput } = await import("../output.ts")
      const { runHeadless } = await import("../direct/headless.ts")
      const exitCode = await runHeadless({
        launch,
        prompt: readStdin(),
        world,
        write: processOutput().json,
      })
      return { exit_code: exitCode }
    }
    await enterFolder(world)
    const { startConversation } = await import("../direct/start-conversation.ts")
    return { exit_code: await startConversation(launch, world) }
  },
  text: () => "",
  exitCode: (output) => output.exit_code,
})

const readLaunch = (input: Input, world: World): DirectLaunch => {
  const file = readLaunchFile(input.launch)
  const { maxTurns, warnings } = readDirectParams(input.args)
  const effort = EFFORTS.find((known) => known === input.effort)
  const notices = [
    ...warnings,
    ...(input.effort === undefined || effort !== undefined
      ? []
      : [
          {
            code: "UNSUPPORTED_FLAG" as const,
            facts: { flag: `effort ${input.effort}`, harness: "Direct" },
          },
        ]),
  ]
  return {
    session: chooseSession(input, world),
    file,
    notices: notices.map(({ code, facts }) => renderWarning(warning(code, facts))),
    ...(input.model === undefined ? {} : { model: input.model }),
    ...(effort === undefined ? {} : { effort }),
    ...(input.permission === undefined ? {} : { permission: input.permission }),
    ...(input.sandbox === undefined ? {} : { sandbox: input.sandbox }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
  }
}

/** The engine's efforts, copied so that a wrong command line loads no engine. */
const EFFORTS: readonly Effort[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]

const chooseSession = (input: Input, world: World): DirectLaunch["session"] => {
  if (input.continue !== undefined && input.fork !== undefined)
    throw new Failure("USAGE", {
      problem: "Cannot combine --continue with --fork.",
      next: "give one of them.",
    })
  const id = checkId(input.session ?? world.uuid())
  if (input.continue !== undefined) return { kind: "continue", id: checkId(input.continue) }
  return input.fork === undefined ? { kind: "new", id } : { kind: "fork", from: checkId(input.fork), id }
}

const checkId = (text: string): string => {
  try {
    return sessionId(text)
  } catch {
    throw new Failure("SESSION_NOT_FOUND", { session: JSON.stringify(text.slice(0, 200)) })
  }
}
