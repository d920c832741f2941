/** Runs that are paused until a person answers, over all spaces of the project, and the person's answer to one. */
import { Failure, type RunId, type SpaceId } from "@meridian/protocol"

import { asRunId, asSpaceId } from "../domain/identifier.ts"
import { isEnded, type Run } from "../domain/run.ts"
import { spacePlace } from "../store/place.ts"
import { readRuns } from "../store/run-store.ts"
import { directoryNames } from "../store/space-store.ts"
import { capsSaid } from "./budget-fields.ts"
import { openState } from "./open-state.ts"
import { runCancel } from "./run-cancel.ts"
import { runResume } from "./run-steer.ts"
import type { World } from "./world.ts"

export interface RunQuestion {
  /** `s1/r3` */
  readonly id: string
  readonly space: SpaceId
  readonly run: RunId
  readonly kind: "budget" | "question" | "paused"
  readonly text: string
  readonly answers: readonly string[]
  readonly harnessSession: string | undefined
}

export const openRunQuestions = (world: Pick<World, "env" | "cwd" | "clock">): readonly RunQuestion[] => {
  const state = openState({ ...world, warn: () => undefined })
  return directoryNames(state.place.spaces).flatMap((name) => {
    const space = asSpaceId(name)
    return space === undefined
      ? []
      : readRuns(spacePlace(state.place, space), () => undefined)
          .filter((run) => !isEnded(run) && run.status === "paused")
          .map((run) => questionOf(space, run))
  })
}

const questionOf = (space: SpaceId, run: Run): RunQuestion => {
  const kind = run.waitingFor === "budget" ? "budget" : run.waitingFor === "question" ? "question" : "paused"
  return {
    id: `${space}/${run.id}`,
    space,
    run: run.id,
    kind,
    text: `Run ${run.id} is paused${run.message === undefined || run.message === "" ? "." : `: ${run.message}`}`,
    answers: kind === "budget" ? ["AMOUNT", "cost=5 tokens=200000", "stop"] : ["continue", "stop"],
    harnessSession: run.harnessSessionId,
  }
}

const AS_TYPED = { passthrough: [], given: new Set<string>() }

/** Throws what `run resume` and `run cancel` throw, and QUESTION_NOT_FOUND. */
export const answerRun = async (
  id: string,
  answer: string,
  world: World,
): Promise<{ readonly run_id: string; readonly status: string }> => {
  const [space, run] = id.split("/").map((part) => part)
  const found = openRunQuestions(world).find((one) => one.id === id)
  if (found === undefined || asSpaceId(space) === undefined || asRunId(run) === undefined)
    throw new Failure("QUESTION_NOT_FOUND", { question: id })
  const place = { runId: found.run, space: found.space, ...AS_TYPED }
  if (answer === "stop") {
    const ended = await runCancel.run(place, world)
    return { run_id: found.run, status: ended.status }
  }
  const caps = answer === "continue" ? {} : capsSaid(answer)
  if (caps === undefined || (found.kind !== "budget" && answer !== "continue"))
    throw new Failure("INVALID_INPUT", {
      what: `${JSON.stringify(answer.slice(0, 100))} is none of ${found.answers.join(", ")}`,
    })
  const resumed = await runResume.run(
    { maxCost: undefined, maxTokens: undefined, maxTurns: undefined, maxTime: undefined, ...caps, ...place },
    world,
  )
  return { run_id: found.run, status: resumed.status }
}
