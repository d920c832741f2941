/**
 * Mutants: small, wrong changes of the engine, each with the test that notices it. `npm run mutants` makes each change in
 * turn, runs that test, and fails when the test stays green. A mutant whose text is gone from the code fails
 * `test/mutants.test.ts`.
 */
export interface Mutant {
  /** What goes wrong, as a sentence. */
  readonly says: string
  /** Below `packages/engine/src/`. */
  readonly file: string
  readonly from: string
  readonly to: string
  /** The test file that must fail, from the root. */
  readonly killedBy: string
}

export const MUTANTS: readonly Mutant[] = [
  // The ones that survived the audit of 0.1.
  {
    says: "a run asked for during the cleanup of an interrupt joins the drain that is being interrupted",
    file: "schedule/drains.ts",
    from: "  !stopping && current !== undefined",
    to: "  current !== undefined",
    killedBy: "packages/engine/src/schedule/drains.test.ts",
  },
  {
    says: "a folder that changed a moment ago is trusted",
    file: "context/look-up.ts",
    from: "if (isSettled(version, now())) missing.set",
    to: "missing.set",
    killedBy: "packages/engine/src/context/look-up.test.ts",
  },
  {
    says: "an overflow after visible output is compacted and sent again",
    file: "turn/run-turn.ts",
    from: `kind === "overflow" && !visible`,
    to: `kind === "overflow"`,
    killedBy: "test/behaviour/engine-compaction.test.ts",
  },
  // schedule/
  {
    says: "the chain ends before the caller of a prompt has its receipt",
    file: "schedule/drains.ts",
    from: "if (chain.next === undefined && chain.unanswered.size > 0) yield* everyoneAnswered(chain)",
    to: "",
    killedBy: "packages/engine/src/schedule/drains.test.ts",
  },
  {
    says: "an interrupt leaves what was demanded before it",
    file: "schedule/drains.ts",
    from: "        const dropped = chain.next ?? []\n        delete chain.next\n",
    to: "        const dropped = chain.next ?? []\n",
    killedBy: "packages/engine/src/schedule/drains.test.ts",
  },
  {
    says: "whoever waits is not told of a failure",
    file: "schedule/drains.ts",
    from: "for (const waiter of chain.waiters) waiter.failure ??= outcome.cause",
    to: "",
    killedBy: "packages/engine/src/schedule/drains.test.ts",
  },
  {
    says: "a closed engine takes new work",
    file: "schedule/drains.ts",
    from: "        closed = true\n",
    to: "",
    killedBy: "packages/engine/src/schedule/drains.test.ts",
  },
  {
    says: "a run without input makes no attempt",
    file: "schedule/drain.ts",
    from: "if (!demand.forced && !hasWork",
    to: "if (!hasWork",
    killedBy: "test/behaviour/engine-execution.test.ts",
  },
  {
    says: "what a dead process left open is not settled",
    file: "schedule/drain.ts",
    from: "    yield* settle(session, lease)\n",
    to: "",
    killedBy: "test/crash/engine-recovery.test.ts",
  },
  {
    says: "a wake releases nothing that waited for it",
    file: "schedule/scheduler.ts",
    from: "          release(session, through)\n",
    to: "",
    killedBy: "test/behaviour/engine-admission.test.ts",
  },
  {
    says: "one failed activity takes the inputs behind it along",
    file: "schedule/scheduler.ts",
    from: `if (failure.code !== "MODEL_FAILED") return`,
    to: "if (failure.code !== undefined) return",
    killedBy: "test/behaviour/engine-execution.test.ts",
  },
  {
    says: "a drain that lost its session goes on",
    file: "schedule/elsewhere.ts",
    from: `(yield* leases.renew(fence)) === "lost") return true`,
    to: `(yield* leases.renew(fence)) === "lost") return false`,
    killedBy: "test/crash/engine-recovery.test.ts",
  },
  {
    says: "unfinished work of a lost process is silent",
    file: "schedule/settle.ts",
    from: "if (lease.abandoned) yield* reportUnfinished(session)",
    to: "",
    killedBy: "test/behaviour/engine-corners.test.ts",
  },
  // turn/
  {
    says: "a call acts before its record is safe",
    file: "turn/calls.ts",
    from: "{ slots, recorded: safe, files }",
    to: "{ slots, recorded: Effect.void, files }",
    killedBy: "packages/engine/src/turn/calls.test.ts",
  },
  {
    says: "two calls of a turn share one id",
    file: "turn/calls.ts",
    from: "for (let copy = 2; names.has(name); copy += 1) name",
    to: "for (let copy = 2; copy < 2; copy += 1) name",
    killedBy: "test/behaviour/engine-execution.test.ts",
  },
  {
    says: "a turn may make any number of calls",
    file: "turn/calls.ts",
    from: "if (made > LIMITS.toolCallsPerTurn)",
    to: "if (made > Number.MAX_SAFE_INTEGER)",
    killedBy: "test/behaviour/engine-turns.test.ts",
  },
  {
    says: "an attempt is repeated after output was visible",
    file: "turn/run-turn.ts",
    from: "visibleOutput: visible",
    to: "visibleOutput: false",
    killedBy: "test/behaviour/engine-turns.test.ts",
  },
  {
    says: "a broken stream loses what was shown of it",
    file: "turn/run-turn.ts",
    from: "      const left = [...recorder.takePartial(), ...calls.unresolved()]\n      if (left.length > 0) yield* session.append(left)\n",
    to: "",
    killedBy: "test/behaviour/engine-turns.test.ts",
  },
  {
    says: "a call that had only asked is reported as interrupted when the engine closes",
    file: "turn/tool-call.ts",
    from: `if (known.staysOpen && known.outcome?.kind !== "success") return`,
    to: "",
    killedBy: "test/behaviour/engine-permissions.test.ts",
  },
  {
    says: "a tool that succeeded while it was interrupted counts as interrupted",
    file: "turn/tool-call.ts",
    from: `Exit.isSuccess(exit) || known.outcome?.kind === "success"`,
    to: "Exit.isSuccess(exit)",
    killedBy: "test/behaviour/engine-execution.test.ts",
  },
  {
    says: "a turn begins with the model that was there before the switch",
    file: "turn/begin-turn.ts",
    from: `if (isOutdated(cast, transcript, outlook)) return write([], { kind: "recast" })`,
    to: "",
    killedBy: "test/behaviour/engine-execution.test.ts",
  },
  {
    says: "the last turn of an activity gets its tools all the same",
    file: "session/cast.ts",
    from: `if (wanted === undefined) return isLast ? { ...offer, ...NO_TOOLS } : offer`,
    to: `if (wanted === undefined) return offer`,
    killedBy: "test/behaviour/engine-agents.test.ts",
  },
  {
    says: "what a prompt changes outlives the work it was sent for",
    file: "domain/transcript/activity.ts",
    from: `return state === "done" ? NO_OVERRIDES : overrides`,
    to: `return overrides`,
    killedBy: "test/behaviour/engine-overrides.test.ts",
  },
  {
    says: "a value ends no work while results are to be shown",
    file: "schedule/drain.ts",
    from: `(turn.resultsToShow && state !== "done")`,
    to: `turn.resultsToShow`,
    killedBy: "test/behaviour/engine-overrides.test.ts",
  },
  {
    says: "a turn begins in the place the session has left",
    file: "turn/begin-turn.ts",
    from: `if (!isAt(transcript, facts)) return write([], { kind: "moved" })`,
    to: "",
    killedBy: "test/behaviour/engine-context-moves.test.ts",
  },
  {
    says: "a question is answered twice",
    file: "turn/permissions.ts",
    from: "if (request === undefined || request.reply !== undefined)",
    to: "if (request === undefined)",
    killedBy: "test/crash/engine-recovery.test.ts",
  },
  {
    says: "a stream goes on behind its end",
    file: "turn/recorder.ts",
    from: "    if (finished) throw broken(`${event.type} after the end`)\n",
    to: "",
    killedBy: "packages/engine/src/turn/recorder.test.ts",
  },
  // The port.
  {
    says: "a writer whose lease was given to somebody else still writes",
    file: "store/sqlite/append.ts",
    from: `if (fence !== undefined && head?.["fence"] !== fence.number) {`,
    to: "if (fence !== undefined && fence.number < 0) {",
    killedBy: "test/contract/engine-stores.test.ts",
  },
  {
    says: "an append behind another one does not notice it",
    file: "store/sqlite/append.ts",
    from: `if ((head?.["seq"] ?? 0) !== after) return { kind: "moved" }`,
    to: "",
    killedBy: "test/contract/engine-stores.test.ts",
  },
  {
    says: "one input id stands for two inputs",
    file: "store/sqlite/append.ts",
    from: `if (claim !== undefined) return { kind: "taken", claim }`,
    to: "",
    killedBy: "test/contract/engine-stores.test.ts",
  },
  {
    says: "a decision is not made again on what another process wrote",
    file: "session/folded-sessions.ts",
    from: "Effect.flatMap(catchUp(entry), () => {\n      if (seqOf(entry.history) === after)",
    to: "Effect.suspend(() => {\n      if (seqOf(entry.history) === after)",
    killedBy: "test/behaviour/engine-execution.test.ts",
  },
  {
    says: "a change of a session is confirmed before it is safe",
    file: "session/folded-sessions.ts",
    from: "Effect.as(written.safe, written.answer)",
    to: "Effect.as(Effect.void, written.answer)",
    killedBy: "test/fault/engine-flush.test.ts",
  },
  {
    says: "a receipt is given before the input is safe",
    file: "schedule/drains.ts",
    from: "            Fiber.join(waiting),",
    to: "            Effect.void,",
    killedBy: "test/crash/engine-power-cut.test.ts",
  },
  // Work that goes on after a crash.
  {
    says: "attempts without progress are not counted",
    file: "domain/recovery.ts",
    from: "attempt: resumed + 1",
    to: "attempt: 1",
    killedBy: "test/crash/engine-continuation.test.ts",
  },
  {
    says: "what a person interrupted goes on after a crash",
    file: "domain/transcript/activity.ts",
    from: `case "session.next.interrupt.requested.1":
      return stopped(activity.settledSeq === 0 ? activity : { ...activity, settledSeq: 0 })`,
    to: `case "session.next.interrupt.requested.1":
      return activity`,
    killedBy: "test/crash/engine-continuation.test.ts",
  },
  {
    says: "a queued input joins the work that goes on",
    file: "schedule/drain.ts",
    from: `forced && activity.state !== "done" ? "continuing" : "settled"`,
    to: `"settled"`,
    killedBy: "test/crash/engine-continuation.test.ts",
  },
  {
    says: "work that its closing engine cut off is left to people",
    file: "schedule/drain.ts",
    from: "Effect.onInterrupt(() => Effect.ignore(leaveForOthers(session, standing.interruptSeq))),",
    to: "Effect.onInterrupt(() => Effect.void),",
    killedBy: "test/crash/engine-continuation.test.ts",
  },
  {
    says: "a run beside work that goes on makes a request of its own",
    file: "schedule/drain.ts",
    from: "if (progress.forced) attempts()",
    to: "",
    killedBy: "test/crash/engine-continuation.test.ts",
  },
  {
    says: "a question about a late limit does not hold the session",
    file: "domain/transcript/parking.ts",
    from: "return { seq: event.seq, until: NEVER,",
    to: "return { seq: event.seq, until: event.time,",
    killedBy: "test/crash/engine-parking.test.ts",
  },
  // Budgets and the guard against repetition.
  {
    says: "a turn begins when a cap is just reached",
    file: "domain/caps.ts",
    from: "cap !== undefined && spent[measure] >= cap)",
    to: "cap !== undefined && spent[measure] > cap)",
    killedBy: "test/sim/engine-caps.test.ts",
  },
  {
    says: "a retry counts as no turn",
    file: "domain/transcript/spending.ts",
    from: `case "session.next.retried.1":\n      return counts(spending, event) ? spend(spending, { turns: 1 }) : spending`,
    to: `case "session.next.retried.1":\n      return spending`,
    killedBy: "test/sim/engine-caps.test.ts",
  },
  {
    says: "what is left of a budget is told before every turn",
    file: "domain/caps.ts",
    from: "percent <= known",
    to: "percent < known",
    killedBy: "test/sim/engine-caps.test.ts",
  },
  {
    says: "an equal call is carried out a sixth time",
    file: "domain/repetition.ts",
    from: "count < LIMITS.repetitionRefused",
    to: "count <= LIMITS.repetitionRefused",
    killedBy: "test/sim/engine-caps.test.ts",
  },
  {
    says: "only a cap on turns holds",
    file: "session/spending.ts",
    from: "if (breach === undefined) return undefined",
    to: `if (breach?.measure !== "turns") return undefined`,
    killedBy: "test/sim/engine-caps.test.ts",
  },
]
