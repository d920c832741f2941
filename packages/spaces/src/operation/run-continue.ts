import { resolve } from "node:path"

import { Failure, harnessSessionId } from "@meridian/protocol"

import { findChat, type ChatRecord } from "../domain/chat.ts"
import { isEnded, type Run } from "../domain/run.ts"
import { asTier } from "../domain/tier.ts"
import { mergeParams } from "../harness/params.ts"
import { abandonedBy, liveChats, readChats } from "../store/chat-store.ts"
import type { SpacePlace } from "../store/place.ts"
import { leftWorking, settleRuns } from "../store/run-liveness.ts"
import { readRun, readRuns } from "../store/run-store.ts"
import { believeRecord } from "./believe-record.ts"
import { capsFor } from "./budget-fields.ts"
import { carryOut } from "./carry-out.ts"
import { chatHere, checkRun, dryRun, requireDepth } from "./check-run.ts"
import { chooseChecks } from "./choose-checks.ts"
import { readConfig } from "./config.ts"
import { prepareFailover } from "./failover.ts"
import { findRun, spaceHere } from "./find-run.ts"
import { continuedWorktree } from "./isolate-run.ts"
import { chooseSandbox } from "./open-sandbox.ts"
import { openState } from "./open-state.ts"
import { implement } from "./operation.ts"
import { parentTier } from "./parent.ts"
import { prepare, type PrepareRequest } from "./prepare.ts"
import type { HeldSession, RunPlan } from "./run-plan.ts"
import { exitCodeOf, spawnNotes, spawnText } from "./run-spawn.ts"
import { RUN_CONTINUE } from "./run.meta.ts"
import { harnessEntry, type State } from "./state.ts"
import { readStoredPlan } from "./stored-plan.ts"
import type { World } from "./world.ts"

export const runContinue = implement(RUN_CONTINUE, {
  run: async (input, world) => {
    const state = openState(world)
    const space = spaceHere(input.space, state, world)
    const loaded = await readConfig(world)
    const { config } = loaded
    if ((input.prompt ?? "").trim() === "") throw new Failure("PROMPT_REQUIRED")
    const source =
      input.runId === undefined
        ? await lastOfChat(space, state, world)
        : await findRun(space, input.runId, state)
    if (!isEnded(source))
      throw new Failure("RUN_ALIVE", { run: source.id, status: source.status, ...leftWorking(space, source) })
    const line = lineOf(space, source, state)
    const chats = readChats(space, state.onDamage)
    const record = recordOf(chats, source)
    const session = source.harnessSessionId ?? record?.harnessSessionId ?? ""
    const nameOf = (id: string): string => harnessEntry(world, id)?.name ?? id
    const isMoved = input.harness !== undefined && input.harness !== source.harness
    // No harness has ids that begin with a dash: it would be taken for a flag.
    if (!isMoved && (session === "" || session.startsWith("-")))
      throw new Failure("RUN_WITHOUT_SESSION", { run: source.id, harness: nameOf(source.harness) })
    if (!input.dryRun) requireDepth(space.id, { state, world, config })
    const holder = harnessEntry(world, source.harness)?.id
    const believed =
      record === undefined || holder === undefined
        ? undefined
        : believeRecord(record, { harness: holder, space: space.id, state, world })
    const cwd =
      input.cwd === undefined ? (believed?.cwd ?? state.place.project) : resolve(world.cwd, input.cwd)
    const request: PrepareRequest = {
      mode: "headless",
      directory: cwd,
      model: input.model,
      harness: isMoved ? input.harness : undefined,
      agent: input.agent,
      skills: input.skills,
      files: input.files,
      variables: input.templateVars,
      prompt: input.prompt,
      permission: input.permission,
      parentTier: parentTier(space.id, state, world),
      spaceFs: space.fs,
      recorded: {
        name: `Run ${source.id}`,
        permission: asTier(source.permission),
        harness: isMoved ? input.harness : source.harness,
        model: isMoved ? "" : (record?.model ?? source.model),
        agent: record?.agent ?? source.agent,
        agentPath: record?.agentPath ?? source.agentPath,
        skills: record?.skills ?? source.skills,
        skillPaths: record?.skillPaths ?? source.skillPaths,
      },
    }
    const prepared = await prepare(request, loaded, world)
    if (!isMoved && prepared.entry.id !== source.harness)
      throw new Failure("HARNESS_MISMATCH", {
        chat: source.id,
        started: nameOf(source.harness),
        asked: prepared.entry.name,
      })
    const { harness } = prepared
    const asked = input.given.has("failover") ? input.failover : undefined
    const failover = await prepareFailover({ asked, request, prepared }, loaded, world)
    if (input.fork && !harness.capabilities.fork && !isMoved)
      world.warn("FORK_UNSUPPORTED", { harness: harness.name })
    const fork = input.fork && harness.capabilities.fork
    if (!fork && !isMoved) await requireIdle(space, chats, session)
    const checked = await checkRun(
      {
        prepared,
        config,
        space: space.id,
        cwd,
        // With another folder it leaves the worktree.
        worktree: input.cwd === undefined ? continuedWorktree(source, cwd, world) : undefined,
        checks: chooseChecks({
          input,
          prepared,
          config,
          // The checks that proved the run also prove its continuation.
          inherited: keptPlan(space, source, state, world)?.checks,
          parentTier: request.parentTier,
        }),
        sandbox: await chooseSandbox(
          {
            config,
            mode: input.sandbox,
            network: input.sandboxNetwork,
            inherited: keptPlan(space, source, state, world)?.sandbox,
            isBound: request.parentTier !== undefined || world.face === "tool",
            harness: prepared.entry,
            isOnTerminal: false,
            what: "The run",
          },
          world,
        ),
        session: isMoved
          ? { kind: "new" }
          : { kind: fork ? "fork" : "continue", id: harnessSessionId(session) },
        ownChat: fork || isMoved ? undefined : record?.chatId,
        continuedFrom: source.id,
        firstTask: line.at(0)?.task,
        earlier: heldIn(line, session),
        failover,
        timeoutSecs: input.timeoutSecs,
        asks: input.ask,
        caps: capsFor(input, { config, isAgents: request.parentTier !== undefined }),
        background: input.background,
        firing: input.firing,
        params: isMoved ? [] : mergeParams(harness.id, believed?.params ?? [], []),
      },
      state,
      world,
    )
    return input.dryRun
      ? dryRun(checked, prepared)
      : await carryOut(checked.plan(space.id), state, world, input.quiet)
  },
  text: (run) => spawnText(run),
  notes: (run) => spawnNotes(run),
  exitCode: (run) => exitCodeOf(run),
})

const keptPlan = (space: SpacePlace, { id }: Run, state: State, world: World): RunPlan | undefined => {
  const kept = readStoredPlan(space, id, state, world)
  return kept.tag === "plan" ? kept.plan : undefined
}

/** The run that began the conversation, its continuations, and this one, oldest first. */
const lineOf = (space: SpacePlace, source: Run, state: State): readonly Run[] => {
  const line = [source]
  const seen = new Set<string>([source.id])
  for (let run = source; run.continuedFrom !== undefined && !seen.has(run.continuedFrom);) {
    const earlier = readRun(space, run.continuedFrom, state.onDamage)
    if (earlier === undefined) break
    seen.add(earlier.id)
    line.unshift(earlier)
    run = earlier
  }
  return line
}

/** Every conversation about it, ending with the one to continue. */
const heldIn = (line: readonly Run[], session: string): readonly HeldSession[] => {
  const held = line.flatMap(({ attempts, harness, harnessSessionId: last }): readonly HeldSession[] => [
    ...attempts.flatMap(({ harness: by, harnessSessionId: id, madeProgress }) =>
      id === undefined || madeProgress !== true ? [] : [{ harness: by === "" ? harness : by, id }],
    ),
    ...(last === undefined ? [] : [{ harness, id: last }]),
  ])
  const newest = line.at(-1)
  const all =
    newest === undefined || session === "" ? held : [...held, { harness: newest.harness, id: session }]
  return [...new Map(all.map((one) => [`${one.harness} ${one.id}`, one])).values()]
}

/** The last run spawned from the current chat. Outside any chat, the last run of the space. */
const lastOfChat = async (space: SpacePlace, state: State, world: World): Promise<Run> => {
  const chat = chatHere(space.id, world)
  const runs = readRuns(space, state.onDamage).filter((run) => chat === undefined || run.chatId === chat)
  const [last] = await settleRuns(space, runs.slice(-1), state)
  if (last === undefined)
    throw new Failure("NO_RUN", { what: chat === undefined ? `space ${space.id}` : `chat ${chat}` })
  return last
}

/** The newest record of the run's conversation: by the harness's own id, else the record the run itself made. */
const recordOf = (chats: readonly ChatRecord[], run: Run): ChatRecord | undefined =>
  (run.harnessSessionId === undefined ? undefined : findChat(chats, run.harnessSessionId)) ??
  chats.findLast((record) => record.runId === run.id)

/** Another run or chat may be using the same conversation. Two at once would spoil it. */
const requireIdle = async (
  space: SpacePlace,
  chats: readonly ChatRecord[],
  session: string,
): Promise<void> => {
  const live = await liveChats(space, chats)
  const busy = chats.find((record) => record.harnessSessionId === session && live.has(record.chatId))
  if (busy !== undefined)
    throw new Failure("CHAT_ALIVE", {
      chat: busy.chatId,
      space: space.id,
      ...abandonedBy(space, busy.chatId),
    })
}
