/** What the worker of one run holds while it carries it out. */
import type { Resumption } from "../domain/resume-note.ts"
import type { Run } from "../domain/run.ts"
import type { Harness } from "../port/harness.ts"
import type { OpenChat } from "../store/chat-store.ts"
import type { RunPlace, SpacePlace } from "../store/place.ts"
import type { OpenRun } from "../store/run-store.ts"
import type { RunPlan } from "./run-plan.ts"
import type { State } from "./state.ts"
import type { Stopper } from "./stop-source.ts"
import type { World } from "./world.ts"

export interface RunContext {
  readonly plan: RunPlan
  readonly world: World
  readonly state: State
  readonly space: SpacePlace
  readonly run: OpenRun
  readonly files: RunPlace
  readonly stopper: Stopper
  /** Why a worker resumes a run that another began. Undefined for a new run. */
  readonly resumption: Resumption | undefined
  /** The run as its log has it now. */
  readonly read: () => Run
}

/** The part of a run that one harness carries out, in its own chat. `plan` is this harness's version. */
export interface Leg extends RunContext {
  /** The plan of the whole run. */
  readonly whole: RunPlan
  readonly harness: Harness
  readonly chat: OpenChat
}
