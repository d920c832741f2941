/**
 * Work that a call gives to another agent. A separate session in the same log does it: the child. Its id comes from the
 * call, so a call that is restarted after a crash finds it, and nothing begins twice. The parent's log records the child
 * before the child begins, and what it used up once it has settled.
 *
 * This process watches a child that works in the background. The result becomes an input of the parent, with its own id.
 * The next process that takes up the parent after a crash watches the children that have not reported.
 */
import { createHash } from "node:crypto"

import {
  Failure,
  messageId,
  sessionId,
  type DurableEvent,
  type RecordedPrompt,
  type RecordedUsage,
} from "@meridian/protocol"
import { Context, Effect, Fiber, FiberMap, Layer, Option } from "effect"

import { breachOf, type Spent } from "../domain/caps.ts"
import { LIMITS } from "../domain/limits.ts"
import { NO_OVERRIDES } from "../domain/overrides.ts"
import { findTask, type Task } from "../domain/transcript/tasks.ts"
import type { Transcript } from "../domain/transcript/transcript.ts"
import { Ids } from "../port/ids.ts"
import { Store } from "../port/store.ts"
import { ToolError, type TaskRequest, type TaskResult } from "../port/tool.ts"
import {
  capsOf,
  DEFAULT_AGENT,
  FoldedSessions,
  openInbox,
  Settings,
  Signals,
  type Agent,
  type Cast,
  type SessionHandle,
  type SettingsValue,
} from "../session/index.ts"
import { AskPermission, type Asker } from "./permissions.ts"

/** What runs sessions. It is a layer above this one and introduces itself. */
export interface Executor {
  readonly wake: (session: string, through: number) => Effect.Effect<void, Failure>
  readonly run: (session: string) => Effect.Effect<void, Failure>
  readonly interrupt: (session: string) => Effect.Effect<void, Failure>
  readonly wait: (session: string) => Effect.Effect<void, Failure>
  readonly isActive: (session: string) => boolean
}

/** A call that delegates work. */
export interface Delegator extends Asker {
  readonly agent: Agent
  /** The only tools the child may use. Undefined means no limit. */
  readonly toolNames: readonly string[] | undefined
}

/** The tools a call may pass on: the offered names when some tools are left out, otherwise undefined. */
export const namesFor = ({ agent, overrides, toolNames }: Cast): readonly string[] | undefined =>
  agent.tools === undefined && overrides.tools === undefined ? undefined : toolNames

export class Tasks extends Context.Service<
  Tasks,
  {
    readonly run: (asker: Delegator, task: TaskRequest) => Effect.Effect<TaskResult, ToolError | Failure>
    /** Watches the background children that have not reported. */
    readonly adopt: (parent: string) => Effect.Effect<void, Failure>
    readonly introduce: (executor: Executor) => Effect.Effect<void>
  }
>()("meridian/Tasks") {
  static readonly layer: Layer.Layer<
    Tasks,
    never,
    Store | FoldedSessions | Signals | Settings | Ids | AskPermission
  > = Layer.effect(
    Tasks,
    Effect.suspend(() => makeTasks),
  )
}

type Status = "done" | "failed" | "interrupted"

interface Outcome {
  readonly status: Status
  readonly text: string
  /** What counts for its parent from then on. */
  readonly used: { readonly usage: RecordedUsage; readonly cost: number; readonly turns: number }
}

const makeTasks = Effect.gen(function* () {
  const store = yield* Store
  const sessions = yield* FoldedSessions
  const signals = yield* Signals
  const settings = yield* Settings
  const permissions = yield* AskPermission
  const inbox = yield* openInbox
  const ids = yield* Ids
  /** Background children, by id. */
  const watched = yield* FiberMap.make<string, void, Failure>()
  /** Runs that resume a child, until they settle. */
  const attempts = new Map<string, Fiber.Fiber<void>>()
  let executor: Executor | undefined

  const working = Effect.suspend(() =>
    executor === undefined ? Effect.fail(new Failure("ENGINE_CLOSED")) : Effect.succeed(executor),
  )

  const run = (asker: Delegator, task: TaskRequest): Effect.Effect<TaskResult, ToolError | Failure> =>
    Effect.gen(function* () {
      const { session } = asker
      const earlier = findTask(session.transcript().tasks, asker)
      const agent = yield* chooseAgent(settings, asker, task.agent)
      yield* checkDepth(session.transcript())
      yield* permissions.ask(asker, {
        action: "task",
        resources: [agent.name],
        title: `${agent.name}: ${task.title}`,
        detail: { prompt: task.prompt.slice(0, DETAIL_CHARACTERS) },
      })
      const child = childId(session.id, asker)
      if (earlier === undefined)
        yield* sessions.write(
          { session: session.id, fence: session.fence, durability: "act", isPatient: true },
          () => append([begun(asker, task, { child, agent })]),
        )
      yield* begin(asker, task, { child, agent })
      const result = { sessionID: child, agent: agent.name }
      if (task.background) {
        yield* watch(session.id, child, false)
        return { ...result, text: undefined, cost: 0 }
      }
      const outcome = yield* follow(session.id, child).pipe(
        Effect.onInterrupt(() =>
          // A closing engine interrupts the child itself. No person has asked for its end.
          permissions.isClosing()
            ? Effect.void
            : Effect.ignore(Effect.flatMap(working, ({ interrupt }) => interrupt(child))),
        ),
      )
      yield* settle(session.decide, { ...asker, sessionID: child }, outcome)
      if (outcome.status !== "done")
        return yield* Effect.fail(
          new ToolError(
            outcome.status === "interrupted" ? "interrupted" : "failed",
            `The agent ${agent.name} did not finish (session ${child}): ${outcome.text}`,
          ),
        )
      return { ...result, text: outcome.text, cost: outcome.used.cost }
    })

  /** Creates the child, gives it the prompt and starts it. Repeating this changes nothing. */
  const begin = (
    asker: Delegator,
    { title, prompt, background }: TaskRequest,
    { child, agent }: { readonly child: string; readonly agent: Agent },
  ): Effect.Effect<void, Failure> =>
    Effect.gen(function* () {
      const { choices } = asker.session.transcript()
      const model = agent.model === undefined ? choices.model : undefined
      const created: DurableEvent = {
        type: "session.next.created.1",
        data: {
          sessionID: sessionId(child),
          location: choices.location ?? { directory: asker.project },
          agent: agent.name,
          title,
          ...(model === undefined ? {} : { model }),
          ...(choices.recovery === undefined ? {} : { recovery: choices.recovery }),
          task: {
            sessionID: sessionId(asker.session.id),
            messageID: messageId(asker.messageID),
            callID: asker.callID,
            depth: depthOf(asker.session.transcript()) + 1,
            agents: [asker.agent.name, ...(choices.task?.agents ?? [])],
            ...(asker.toolNames === undefined ? {} : { tools: asker.toolNames }),
            ...(background ? { background } : {}),
          },
        },
      }
      const asked: DurableEvent = {
        type: "session.next.prompt.admitted.1",
        data: {
          messageID: messageId(ids.next("msg_")),
          prompt: { text: prompt },
          delivery: "steer",
          resume: false,
        },
      }
      // Both at once. What acts in it waits for the disk by itself, and a call that is resumed makes what was lost again.
      const made = yield* sessions.create({ session: child, durability: "progress" }, ({ seq }) => ({
        kind: "append",
        events: seq === 0 ? [created, asked] : [],
        answer: (stored) => stored.at(-1)?.seq,
      }))
      if (made === undefined) return yield* goOn(child)
      yield* Effect.flatMap(working, ({ wake }) => wake(child, made))
    })

  const admit = (session: string, id: string, prompt: RecordedPrompt) =>
    inbox.admit({
      id,
      isFresh: false,
      sessionID: session,
      prompt,
      delivery: "steer",
      resume: false,
      overrides: NO_OVERRIDES,
    })

  /** Starts what waits, and resumes what a lost process left. */
  const goOn = (child: string): Effect.Effect<void, Failure> =>
    Effect.gen(function* () {
      const { wake, run: runAgain, isActive } = yield* working
      if (isActive(child)) return
      const { transcript } = yield* sessions.current(child)
      if (transcript.inbox.length > 0) return yield* wake(child, transcript.seq)
      if (!isCutOff(transcript)) return
      // The outcome reads its failure from the child's log.
      const attempt = Effect.ensuring(
        Effect.ignore(runAgain(child)),
        Effect.sync(() => attempts.delete(child)),
      )
      attempts.set(child, yield* Effect.forkDetach(attempt))
    })

  const follow = (parent: string, child: string): Effect.Effect<Outcome, Failure> =>
    Effect.gen(function* () {
      const { wait } = yield* working
      // Until a resumed attempt begins, the child looks idle.
      const attempt = attempts.get(child)
      const settled = Effect.andThen(attempt === undefined ? Effect.void : Fiber.await(attempt), wait(child))
      const ended = Effect.matchEffect(settled, {
        onSuccess: () => outcomeOf(child),
        onFailure: (failure) =>
          failure.code === "ENGINE_CLOSED" ? Effect.fail(failure) : outcomeOf(child, failure),
      })
      const { transcript } = yield* sessions.known(parent)
      if (Object.keys(capsOf(transcript, settings)).length === 0) return yield* ended
      return yield* Effect.raceFirst(ended, whenSpent(parent, child))
    })

  const outcomeOf = (child: string, failure?: Failure): Effect.Effect<Outcome, Failure> =>
    Effect.gen(function* () {
      const { transcript } = yield* sessions.current(child)
      const summary = yield* store.session(child)
      const unfinished = transcript.activity.state === "done" ? undefined : "interrupted"
      const trouble =
        failure?.code === "INTERRUPTED"
          ? "interrupted"
          : (summary?.trouble ?? (failure && "failed") ?? unfinished)
      const { cost, turns } = transcript.spending.spent
      const used = { usage: summary?.usage ?? NO_USAGE, cost, turns }
      if (trouble === undefined) return { status: "done", text: lastWords(transcript), used }
      return { status: trouble, text: failure?.message ?? `it was ${trouble}.`, used }
    })

  /** The parent's budget includes its children. A child that uses up the rest is stopped. */
  const whenSpent = (parent: string, child: string): Effect.Effect<Outcome, Failure> =>
    Effect.scoped(
      Effect.gen(function* () {
        const { changed } = yield* signals.watch(child)
        let before: Spent | undefined
        for (;;) {
          const { spent } = (yield* sessions.known(child)).transcript.spending
          // Most of what a child does uses nothing up.
          if (spent !== before && (yield* isSpent(parent))) {
            yield* Effect.flatMap(working, ({ interrupt }) => interrupt(child))
            const { used } = yield* outcomeOf(child)
            return { status: "failed", text: "the budget of this work is used up.", used } as const
          }
          before = spent
          yield* changed
        }
      }),
    )

  const isSpent = (parent: string): Effect.Effect<boolean, Failure> =>
    Effect.gen(function* () {
      const { transcript } = yield* sessions.current(parent)
      return breachOf(yield* spentBy(transcript), capsOf(transcript, settings)) !== undefined
    })

  /** What the parent has spent, including its working children. */
  const spentBy = ({ spending, tasks }: Transcript): Effect.Effect<Spent, Failure> =>
    Effect.gen(function* () {
      let { cost, tokens, turns } = spending.spent
      for (const { sessionID } of tasks.filter(({ ended }) => !ended)) {
        // A child that does not exist yet has spent nothing.
        const found = yield* Effect.option(sessions.known(sessionID))
        if (Option.isNone(found)) continue
        const { spent } = found.value.transcript.spending
        cost += spent.cost
        tokens += spent.tokens
        turns += spent.turns
      }
      return { ...spending.spent, cost, tokens, turns }
    })

  /** Once per child: from here on its spending counts for the parent. */
  const settle = (
    write: SessionHandle["decide"],
    task: Pick<Task, "messageID" | "callID" | "sessionID">,
    { status, used }: Outcome,
  ): Effect.Effect<void, Failure> =>
    write(({ tasks }) =>
      append(
        tasks.some(({ sessionID, ended }) => ended && sessionID === task.sessionID)
          ? []
          : [
              {
                type: "session.next.task.ended.1",
                data: {
                  assistantMessageID: messageId(task.messageID),
                  callID: task.callID,
                  sessionID: sessionId(task.sessionID),
                  status,
                  ...used,
                },
              },
            ],
      ),
    )

  const watch = (parent: string, child: string, resumes: boolean): Effect.Effect<void> =>
    Effect.asVoid(
      FiberMap.run(
        watched,
        child,
        Effect.ignore(Effect.andThen(resumes ? goOn(child) : Effect.void, report(parent, child))),
        { onlyIfMissing: true },
      ),
    )

  /** Follows a child to its end and reports to the parent with an input. */
  const report = (parent: string, child: string): Effect.Effect<void, Failure> =>
    Effect.gen(function* () {
      const outcome = yield* follow(parent, child)
      // The next process that takes up the parent watches the child again.
      if (outcome.status === "interrupted" && permissions.isClosing()) return
      const task = (yield* sessions.current(parent)).transcript.tasks.find(
        ({ sessionID }) => sessionID === child,
      )
      if (task === undefined || task.ended) return
      const words = outcome.text.slice(-LIMITS.taskReportCharacters)
      const { safe } = yield* admit(parent, `${child}_result`, {
        text: `The work in the background "${task.title}" (agent ${task.agent}, session ${child}) ${ENDED[outcome.status]}:\n\n${words}`,
        from: "task",
      })
      yield* safe
      const { seq } = (yield* sessions.current(parent)).transcript
      yield* Effect.flatMap(working, ({ wake }) => wake(parent, seq))
      // Settles last, so that a waiter finds the parent at work.
      const write: SessionHandle["decide"] = (decide) =>
        sessions.write({ session: parent, durability: "progress" }, decide)
      yield* settle(write, task, outcome)
    })

  const adopt = (parent: string): Effect.Effect<void, Failure> =>
    Effect.flatMap(sessions.known(parent), ({ transcript }) =>
      Effect.forEach(
        transcript.tasks.filter(({ background, ended }) => background && !ended),
        ({ sessionID }) => watch(parent, sessionID, true),
        { discard: true },
      ),
    )

  return Tasks.of({
    run,
    adopt,
    introduce: (introduced) =>
      Effect.sync(() => {
        executor = introduced
      }),
  })
})

const ENDED: Readonly<Record<Status, string>> = {
  done: "is done",
  failed: "has failed",
  interrupted: "was interrupted",
}

const NO_USAGE: RecordedUsage = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 }
const DETAIL_CHARACTERS = 2_000

const append = (events: readonly DurableEvent[]) =>
  ({ kind: "append", events, answer: () => undefined }) as const

const begun = (
  { messageID, callID }: Delegator,
  { title, background }: TaskRequest,
  { child, agent }: { readonly child: string; readonly agent: Agent },
): DurableEvent => ({
  type: "session.next.task.started.1",
  data: {
    assistantMessageID: messageId(messageID),
    callID,
    sessionID: sessionId(child),
    agent: agent.name,
    title,
    ...(background ? { background } : {}),
  },
})

/** The same call always gives the same child. */
const childId = (parent: string, { messageID, callID }: Pick<Delegator, "messageID" | "callID">): string =>
  `ses_${createHash("sha256")
    .update(JSON.stringify([parent, messageID, callID]))
    .digest("hex")
    .slice(0, 32)}`

/** Unfinished, and no person has stopped it since its last turn began. */
const isCutOff = ({ activity, calls, interruptSeq, conversation: { items } }: Transcript): boolean =>
  (activity.state !== "done" || calls.open.length > 0) &&
  interruptSeq <= (items.findLast(({ kind }) => kind === "assistant")?.seq ?? 0)

const depthOf = ({ choices: { task } }: Transcript): number => task?.depth ?? 0

const checkDepth = (transcript: Transcript): Effect.Effect<void, ToolError> =>
  depthOf(transcript) < LIMITS.taskDepth
    ? Effect.void
    : Effect.fail(
        new ToolError(
          "denied",
          `Work is given on at most ${LIMITS.taskDepth} times, and this session is at that depth. Do it yourself.`,
        ),
      )

const chooseAgent = (
  settings: SettingsValue,
  { agent: own }: Delegator,
  wanted: string | undefined,
): Effect.Effect<Agent, ToolError> => {
  const callable = [...settings.agents.values()].filter(({ mode }) => mode !== "primary")
  const known = callable.filter(({ hidden }) => !hidden).map(({ name }) => name)
  const name = wanted ?? (own.mode === "primary" ? DEFAULT_AGENT : own.name)
  const agent = callable.find((one) => one.name === name)
  if (agent !== undefined) return Effect.succeed(agent)
  const why = settings.agents.has(name)
    ? `The agent ${name} works for people only.`
    : `There is no agent ${JSON.stringify(name.slice(0, 100))}.`
  return Effect.fail(
    new ToolError("invalid-input", `${why} Agents that can be called: ${known.join(", ") || "none"}.`),
  )
}

/** The child's last words are its report. */
const lastWords = ({ conversation: { items } }: Transcript): string => {
  const last = items.findLast((item) => item.kind === "assistant")
  return last?.kind === "assistant"
    ? last.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
    : ""
}
