/**
 * Keeps the model's privileged context true: a complete first baseline before any prompt is visible, one message in order
 * when something changes, a fresh baseline after a compaction.
 */
import { Failure, type DurableEvent } from "@meridian/protocol"
import { Effect } from "effect"

import {
  initialize,
  rebaseline,
  reconcile,
  type Observation,
  type Reconciliation,
} from "../domain/context.ts"
import { isDeniedEverywhere, type PermissionRule } from "../domain/permission.ts"
import { switchReminder } from "../domain/reminder.ts"
import { ledgerState, workingSet } from "../domain/transcript/ledger.ts"
import { hasBaseline } from "../domain/transcript/transcript.ts"
import type { ObservationScene } from "../port/context-source.ts"
import { isAt, type TurnScene } from "./turn-scene.ts"

export type ContextUpdate = Extract<DurableEvent, { readonly type: "session.next.context.updated.1" }>

/**
 * Runs at a boundary. Starts a first baseline before any prompt is visible and a fresh one after a compaction; otherwise
 * returns what changed.
 */
export const followContext = (
  scene: TurnScene,
  prompt: string,
): Effect.Effect<ContextUpdate | undefined, Failure> =>
  Effect.suspend(() => {
    const observed = observe(scene, { prompt, atCompaction: false })
    const update = Effect.map(observed, (seen) => messageOf(scene, updateSince(scene, seen)))
    if (hasBaseline(scene.session.transcript())) return update
    return Effect.flatMap(startEpoch(scene, prompt), (seen) => {
      if (scene.session.transcript().surroundings.epoch === undefined) return Effect.succeed(undefined)
      return seen === undefined ? update : Effect.succeed(messageOf(scene, updateSince(scene, seen)))
    })
  })

/** Starts a baseline when none is in force. */
export const ensureEpoch = (scene: TurnScene, prompt: string): Effect.Effect<void, Failure> =>
  Effect.suspend(() =>
    hasBaseline(scene.session.transcript()) ? Effect.void : Effect.asVoid(startEpoch(scene, prompt)),
  )

/** Compares an observation with what the model was last told. */
const updateSince = ({ session }: TurnScene, observed: Observation): Reconciliation => {
  const { epoch } = session.transcript().surroundings
  return epoch === undefined ? { kind: "unchanged" } : reconcile(epoch.snapshot, observed)
}

/** One message for changes and reminders. */
const messageOf = (scene: TurnScene, change: Reconciliation): ContextUpdate | undefined => {
  const reminder = switchOf(scene)
  if (change.kind === "unchanged" && reminder === undefined) return undefined
  const { text, changed, removed } = change.kind === "unchanged" ? NO_CHANGE : change
  const texts = [reminder, text].filter((part) => part !== undefined && part !== "")
  return {
    type: "session.next.context.updated.1",
    data: { messageID: scene.session.newMessage(), text: texts.join("\n\n"), changed, removed },
  }
}

const NO_CHANGE = { text: "", changed: {}, removed: [] } as const

/** The reminder when another agent takes this turn because somebody switched. */
const switchOf = ({ session, cast, settings }: TurnScene): string | undefined => {
  const { agent: from, isSwitched } = session.transcript().activity
  if (from === undefined || !isSwitched || from === cast.agent.name) return undefined
  const before = settings.agents.get(from)
  return switchReminder({
    from,
    to: cast.agent.name,
    description: cast.agent.description,
    onlyLooks: onlyLooks(cast.rules),
    onlyLooked: before !== undefined && onlyLooks([...settings.rules, ...before.rules]),
  })
}

const onlyLooks = (rules: readonly PermissionRule[]): boolean => isDeniedEverywhere(rules, "edit")

/** Returns the observation for a new baseline, so that the same boundary does not look twice. */
const startEpoch = (scene: TurnScene, prompt: string): Effect.Effect<Observation | undefined, Failure> =>
  Effect.gen(function* () {
    const { session } = scene
    const { compactions, surroundings } = session.transcript()
    // Also in a new place: the checkpoint is still all the model has of the earlier work.
    const atCompaction = compactions.seq > 0
    if (!isHere(scene)) return undefined
    const observation = yield* observe(scene, { prompt, atCompaction })
    const { epoch } = surroundings
    const decision = epoch === undefined ? initialize(observation) : rebaseline(epoch.snapshot, observation)
    if (decision.kind === "baseline") {
      const { baseline, snapshot } = decision
      yield* appendHere(scene, {
        type: "session.next.epoch.started.1",
        data: { baseline, snapshot, cause: epoch === undefined ? "first" : "compaction" },
      })
      return observation
    }
    // After a compaction the old baseline and its updates stay in force until the new one is complete.
    if (epoch !== undefined) return undefined
    return yield* Effect.fail(
      new Failure("CONTEXT_UNAVAILABLE", { session: session.id, keys: decision.keys.join(", ") }),
    )
  })

const observe = (
  { session, location, cast }: TurnScene,
  occasion: Pick<ObservationScene, "prompt" | "atCompaction">,
): Effect.Effect<Observation> =>
  Effect.suspend(() => {
    const { surroundings, ledger } = session.transcript()
    return location.observe({
      ...occasion,
      sessionID: session.id,
      model: cast.model.id,
      contextWindow: cast.model.contextWindow,
      agent: cast.agent.name,
      rules: cast.rules,
      discovered: surroundings.discovered,
      workingSet: () => workingSet(ledger),
      tools: cast.toolNames,
      ledger: () => ledgerState(ledger),
    })
  })

const isHere = (scene: TurnScene): boolean => isAt(scene.session.transcript(), scene)

/**
 * Appends only if the session is still at this place. A session that has moved is told nothing about the place it left; the
 * promotion will notice.
 */
const appendHere = (scene: TurnScene, event: DurableEvent): Effect.Effect<void, Failure> =>
  scene.session.decide((transcript) => ({
    kind: "append",
    events: isAt(transcript, scene) ? [event] : [],
    answer: () => undefined,
  }))
