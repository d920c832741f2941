/** Every operation of spaces, in the order of help and of the reference page. */
import { CONFIG_GET, CONFIG_RESET, CONFIG_SET, CONFIG_SHOW } from "./config.meta.ts"
import { DOCTOR } from "./doctor.meta.ts"
import { RUN_APPLY, RUN_COMPARE, RUN_DIFF, RUN_DISCARD, RUN_WORKTREE } from "./hands.meta.ts"
import { MODELS_LIST, MODELS_SHOW, MODELS_UPDATE } from "./models.meta.ts"
import { register, type Registration } from "./operation.ts"
import {
  RUN_CANCEL,
  RUN_CONTINUE,
  RUN_FILES,
  RUN_LIST,
  RUN_PAUSE,
  RUN_RESUME,
  RUN_SEND,
  RUN_SHOW,
  RUN_SPAWN,
  RUN_STATS,
  RUN_SUPERVISE,
  RUN_TAIL,
  RUN_WAIT,
  RUN_WATCH,
  RUN_WORKER,
  UP,
} from "./run.meta.ts"
import { SCHEDULE, SCHEDULE_LIST, SCHEDULE_PAUSE, SCHEDULE_REMOVE, SCHEDULE_RESUME } from "./schedule.meta.ts"
import { SKILLS_LIST, SKILLS_SHOW } from "./skills.meta.ts"
import { givenSpace } from "./space-context.ts"
import { SPACE_CLOSE, SPACE_LIST, SPACE_REBIND, SPACE_SHOW } from "./space.meta.ts"
import { START } from "./start.meta.ts"
import { TRUST, TRUST_LIST, UNTRUST } from "./trust.meta.ts"
import type { World } from "./world.ts"

export const OPERATIONS: readonly Registration[] = [
  register(START, async () => (await import("./start.ts")).start),
  register(SPACE_LIST, async () => (await import("./space-list.ts")).spaceList),
  register(SPACE_SHOW, async () => (await import("./space-show.ts")).spaceShow),
  register(SPACE_CLOSE, async () => (await import("./space-close.ts")).spaceClose),
  register(SPACE_REBIND, async () => (await import("./space-rebind.ts")).spaceRebind),
  register(RUN_SPAWN, async () => (await import("./run-spawn.ts")).runSpawn),
  register(RUN_CONTINUE, async () => (await import("./run-continue.ts")).runContinue),
  register(RUN_LIST, async () => (await import("./run-list.ts")).runList),
  register(RUN_SHOW, async () => (await import("./run-show.ts")).runShow),
  register(RUN_STATS, async () => (await import("./run-stats.ts")).runStats),
  register(RUN_WAIT, async () => (await import("./run-wait.ts")).runWait),
  register(RUN_TAIL, async () => (await import("./run-tail.ts")).runTail),
  register(RUN_WATCH, async () => (await import("./run-watch.ts")).runWatch),
  register(RUN_CANCEL, async () => (await import("./run-cancel.ts")).runCancel),
  register(RUN_SEND, async () => (await import("./run-steer.ts")).runSend),
  register(RUN_PAUSE, async () => (await import("./run-steer.ts")).runPause),
  register(RUN_RESUME, async () => (await import("./run-steer.ts")).runResume),
  register(UP, async () => (await import("./run-steer.ts")).up),
  register(RUN_FILES, async () => (await import("./run-show.ts")).runFiles),
  register(RUN_DIFF, async () => (await import("./run-diff.ts")).runDiff),
  register(RUN_COMPARE, async () => (await import("./run-compare.ts")).runCompare),
  register(RUN_APPLY, async () => (await import("./run-apply.ts")).runApply),
  register(RUN_DISCARD, async () => (await import("./run-discard.ts")).runDiscard),
  register(RUN_WORKTREE, async () => (await import("./run-diff.ts")).runWorktree),
  register(RUN_SUPERVISE, async () => (await import("./run-steer.ts")).runSupervise),
  register(RUN_WORKER, async () => (await import("./run-spawn.ts")).runWorkerOperation),
  register(SCHEDULE, async () => (await import("./schedule.ts")).schedule),
  register(SCHEDULE_LIST, async () => (await import("./schedule.ts")).scheduleList),
  register(SCHEDULE_PAUSE, async () => (await import("./schedule.ts")).schedulePause),
  register(SCHEDULE_RESUME, async () => (await import("./schedule.ts")).scheduleResume),
  register(SCHEDULE_REMOVE, async () => (await import("./schedule.ts")).scheduleRemove),
  register(SKILLS_LIST, async () => (await import("./skills.ts")).skillsList),
  register(SKILLS_SHOW, async () => (await import("./skills.ts")).skillsShow),
  register(MODELS_LIST, async () => (await import("./models.ts")).modelsList),
  register(MODELS_SHOW, async () => (await import("./models.ts")).modelsShow),
  register(MODELS_UPDATE, async () => (await import("./models-update.ts")).modelsUpdate),
  register(DOCTOR, async () => (await import("./doctor.ts")).doctor),
  register(TRUST, async () => (await import("./trust.ts")).trust),
  register(TRUST_LIST, async () => (await import("./trust.ts")).trustList),
  register(UNTRUST, async () => (await import("./trust.ts")).untrust),
  register(CONFIG_SHOW, async () => (await import("./config.ts")).configShow),
  register(CONFIG_GET, async () => (await import("./config.ts")).configGet),
  register(CONFIG_SET, async () => (await import("./config.ts")).configSet),
  register(CONFIG_RESET, async () => (await import("./config.ts")).configReset),
]

/**
 * The first step of every command: records the end of what was killed. For a person, chats and runs of all spaces.
 * For an agent, the runs of the space it works in.
 */
export const sweepAtStart = async (
  world: Pick<World, "env" | "cwd" | "clock" | "warn" | "mode" | "program">,
  space?: string,
): Promise<void> => {
  if (world.mode === "human") return (await import("./sweep.ts")).sweepAll(world)
  const given = givenSpace(space, world)
  if (given !== undefined) await (await import("./sweep.ts")).sweepRuns(given, world)
}

/** For long-running servers: they supervise whenever no other process does. */
export const standBy = async (world: World): Promise<void> => (await import("./supervisor.ts")).standBy(world)

/** Runs that wait for a person. */
export const runQuestions = async () => {
  const { answerRun, openRunQuestions } = await import("./run-questions.ts")
  return { answerRun, openRunQuestions }
}
