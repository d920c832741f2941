/** `meridian direct`: one session of the engine, with a terminal or without. */
import type { Effort } from "@meridian/engine"
import { Failure, sessionId } from "@meridian/protocol"
import { fitParams, implement, renderWarning, warning, type InputOf, type World } from "@meridian/spaces"

import { readLaunchFile } from "../direct/launch-file.ts"
import type { DirectLaunch } from "../direct/open-session.ts"
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
        write: processOutput().stdout,
      })
      return { exit_code: exitCode }
    }
    const { startConversation } = await import("../direct/start-conversation.ts")
    return { exit_code: await startConversation(launch, world) }
  },
  text: () => "",
  exitCode: (output) => output.exit_code,
})

const readLaunch = (input: Input, world: World): DirectLaunch => {
  const file = readLaunchFile(input.launch)
  const params = readParams(input.args)
  const effort = EFFORTS.find((known) => known === input.effort)
  const unknown = [
    ...params.unknown,
    ...(input.effort === undefined || effort !== undefined ? [] : [`effort ${input.effort}`]),
  ]
  return {
    session: chooseSession(input, world),
    file,
    notices: unknown.map((flag) => renderWarning(warning("UNSUPPORTED_FLAG", { flag, harness: "Direct" }))),
    ...(input.model === undefined ? {} : { model: input.model }),
    ...(effort === undefined ? {} : { effort }),
    ...(input.permission === undefined ? {} : { permission: input.permission }),
    ...(params.maxTurns === undefined ? {} : { maxTurns: params.maxTurns }),
  }
}

/** As the engine knows them; not imported from there, so that a wrong command line loads no engine. */
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

interface Params {
  readonly maxTurns: number | undefined
  readonly unknown: readonly string[]
}

/** What followed `--`. A flag nobody knows is named and left out. */
const readParams = (args: readonly string[]): Params => {
  const { groups } = fitParams({ id: "direct", name: "Direct" }, args)
  const unknown = groups.flatMap(({ flag, words }) =>
    flag === "--max-turns" ? [] : [flag ?? words.join(" ")],
  )
  const words = groups.findLast(({ flag }) => flag === "--max-turns")?.words
  if (words === undefined) return { maxTurns: undefined, unknown }
  const text = words.join("=").replace(/^--max-turns=?/, "")
  const maxTurns = Number(text)
  if (!Number.isSafeInteger(maxTurns) || maxTurns < 1)
    throw new Failure("USAGE", {
      problem: `--max-turns must be a whole number of at least 1, got ${JSON.stringify(text)}.`,
      next: "give a number, or leave it out.",
    })
  return { maxTurns, unknown }
}
