/** `meridian start`: which space, which chat, then the harness on this terminal until it ends. */
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

import { Failure, harnessSessionId } from "@meridian/protocol"

import type { Config } from "../domain/config-option.ts"
import { LIMIT } from "../domain/limit.ts"
import { mergeCaps, NOTHING_SPENT, restOf, type Rest } from "../domain/run-caps.ts"
import type { SandboxUse } from "../domain/sandbox.ts"
import type { Space } from "../domain/space.ts"
import { declaredTask } from "../domain/task.ts"
import { asTier, type PermissionTier } from "../domain/tier.ts"
import { fitParams, mergeParams } from "../harness/params.ts"
import type { Harness, LaunchPlan, LaunchRequest } from "../port/harness.ts"
import { startChat } from "../store/chat-store.ts"
import type { LoadedConfig } from "../store/config-file.ts"
import { spacePlace } from "../store/place.ts"
import { changeSpace, createSpace, findSpace, keepGitignore } from "../store/space-store.ts"
import { lastActiveSpace } from "./active-space.ts"
import { believeRecord } from "./believe-record.ts"
import { capsAsked } from "./budget-fields.ts"
import { readConfig } from "./config.ts"
import { resolveContinuation, type Continuation } from "./continuation.ts"
import { requireEngineModel } from "./engine-models.ts"
import type { InputOf } from "./field.ts"
import { requireLaunchable } from "./find-binary.ts"
import { launchOnTerminal } from "./launch-on-terminal.ts"
import { binaryOf } from "./launch-parts.ts"
import { launchEnvironment } from "./launcher.ts"
import { chooseSandbox } from "./open-sandbox.ts"
import { openState } from "./open-state.ts"
import { implement, type Passthrough } from "./operation.ts"
import { parentTier } from "./parent.ts"
import { prepare, type Prepared } from "./prepare.ts"
import { sparse } from "./run-document.ts"
import { ownSandbox } from "./sandboxed-launch.ts"
import { openSeal } from "./seal.ts"
import { shellLine } from "./shell-words.ts"
import { START } from "./start.meta.ts"
import { harnessEntry, ownMark, type State } from "./state.ts"
import { sweepSpace } from "./sweep.ts"
import { enterFolder } from "./trust-question.ts"
import { asChatsKnowIt, unheldSession } from "./unheld-session.ts"
import type { FoundSession, World } from "./world.ts"

type Input = InputOf<typeof START.fields> & Passthrough

export const start = implement(START, {
  run: async (input, world) => {
    checkFlags(input)
    const state = openState(world)
    // A dry run only shows the plan. It asks nothing and records nothing.
    const loaded = await (input.dryRun ? readConfig(world) : enterFolder(world))
    const { config } = loaded
    const reference = asChatsKnowIt(input.continue ?? "", input.space, state)
    const adopted = await unheldSession(reference, input.space, { state, world })
    const continuation =
      input.continue === undefined || adopted !== undefined
        ? undefined
        : await resolveContinuation({
            reference,
            space: input.space,
            fork: input.fork,
            state,
            world,
          })
    const existing = continuation?.space ?? existingSpace(input, config, state)
    if (adopted !== undefined && (input.harness ?? adopted.harness) !== adopted.harness)
      throw new Failure("USAGE", {
        problem: `The session ${reference} is one of ${adopted.harness}.`,
        next: "omit --harness.",
      })
    const wish: Input = adopted === undefined ? input : { ...input, harness: adopted.harness }
    const prepared = await prepareChat(wish, { loaded, continuation, existing, state, world })
    const fork = input.fork && prepared.harness.capabilities.fork
    if (input.fork && !fork) world.warn("FORK_UNSUPPORTED", { harness: prepared.harness.name })
    // A fork leaves its origin as it is: the new conversation is a separate chat.
    const chatId = fork ? undefined : continuation?.record.chatId
    const { use: sandbox } = await chooseSandbox(
      {
        config,
        mode: input.sandbox,
        network: input.sandboxNetwork,
        isBound: parentTier(existing?.id, state, world) !== undefined,
        harness: prepared.entry,
        isOnTerminal: true,
        what: "The conversation",
      },
      world,
    )
    const { harness, plan, params } = await planLaunch(input, {
      sandbox,
      fork,
      adopted,
      prepared,
      config,
      continuation,
      state,
      world,
    })
    if (input.dryRun)
      return sparse({
        harness: harness.id,
        model: prepared.model,
        dry_run: true,
        space_id: existing?.id,
        chat_id: chatId,
        cwd: plan.cwd,
        cli_command: [plan.command, ...plan.args],
      })
    requireTerminal(harness, world)
    if (harness.id === "direct") await requireEngineModel(prepared.harnessModel, world)
    const space = await openSpace(input, { existing, state, world })
    const place = spacePlace(state.place, space.id)
    const seal = await openSeal(space.id, state, world)
    const chat = await startChat(
      state.place,
      place,
      {
        chatId,
        harness: harness.id,
        harnessSessionId: plan.harnessSessionId ?? "",
        model: prepared.model,
        agent: prepared.agent?.name,
        agentPath: prepared.agent?.path,
        skills: prepared.skills.map((skill) => skill.name),
        skillPaths: prepared.skills.map((skill) => skill.path),
        params,
        permission: askedPermission(input, continuation, prepared),
        tier: prepared.permission,
        cwd: plan.cwd,
        task: declaredTask(input.task) ?? continuation?.record.task,
        startedAt: state.now(),
        holder: ownMark(),
      },
      seal,
    )
    const tier = prepared.permission
    const ended = await launchOnTerminal({ harness, plan, tier, chat, place, state, world, config, sandbox })
    return sparse({
      space_id: space.id,
      chat_id: chat.chatId,
      harness: harness.id,
      model: prepared.model,
      harness_session_id: ended.harnessSessionId === "" ? undefined : ended.harnessSessionId,
      exit_code: ended.exitCode,
      // The space may have been closed in between, which ended the chat: then there is nothing to continue.
      resume_command:
        findSpace(state.place, space.id).status === "closed"
          ? undefined
          : `meridian start --space ${space.id} --continue ${chat.chatId}`,
    })
  },
  text: (output) =>
    output.resume_command === undefined
      ? shellLine(output.cli_command ?? [])
      : neverOpened(output)
        ? ""
        : `Continue this chat with: ${output.resume_command}`,
  exitCode: (output) => output.exit_code ?? 0,
})

/** Direct reports why it could not open the session. The same command again would end the same way. */
const neverOpened = ({
  harness,
  exit_code: code,
}: {
  harness?: string | undefined
  exit_code?: number | undefined
}): boolean => harness === "direct" && (code === 1 || code === 2)

/** Other harnesses handle a missing terminal. Ours would only refuse, with a chat already recorded. */
const requireTerminal = ({ id }: Harness, { terminal, json }: World): void => {
  if (id !== "direct") return
  if (!terminal.stdin) throw new Failure("TERMINAL_REQUIRED", { stream: "stdin" })
  // With JSON on stdout, the conversation goes to stderr.
  if (!(json ? terminal.stderr : terminal.stdout))
    throw new Failure("TERMINAL_REQUIRED", { stream: json ? "stderr" : "stdout" })
}

const checkFlags = (input: Input): void => {
  const refuse = (problem: string, next: string): never => {
    throw new Failure("USAGE", { problem, next })
  }
  if (input.new && input.space !== undefined)
    refuse("Cannot combine --new with --space.", "give one of them.")
  if (input.new && input.continue !== undefined)
    refuse("Cannot combine --new with --continue.", "omit --new to continue a chat.")
  if (input.fork && input.continue === undefined)
    refuse("--fork needs a chat to start from.", "add --continue, or --continue CHAT.")
  if (input.cwd !== undefined && input.continue !== undefined)
    refuse("A chat is continued in the directory it was started in.", "omit --cwd.")
  if (
    input.name !== undefined &&
    (input.name.trim() === "" || input.name.length > LIMIT.nameCharacters || /\p{Cc}/u.test(input.name))
  )
    refuse(`A name has 1 to ${LIMIT.nameCharacters} characters on one line.`, "give another --name.")
}

/** Undefined: a new one must be made. */
const existingSpace = (input: Input, config: Config, state: State): Space | undefined => {
  if (input.new) return undefined
  if (input.space !== undefined) {
    const space = findSpace(state.place, input.space)
    if (space.status === "closed") throw new Failure("SPACE_CLOSED", { space: space.id })
    return space
  }
  return config["start.auto_resume"] ? lastActiveSpace(state) : undefined
}

interface Chosen {
  readonly continuation: Continuation | undefined
  readonly state: State
  readonly world: World
}

const prepareChat = async (
  input: Input,
  {
    loaded,
    continuation,
    existing,
    state,
    world,
  }: Chosen & { readonly loaded: LoadedConfig; readonly existing: Space | undefined },
): Promise<Prepared> => {
  const record = continuation?.record
  const prepared = await prepare(
    {
      mode: "interactive",
      model: input.model,
      harness: input.harness,
      agent: input.agent,
      skills: input.skills,
      files: [],
      variables: [],
      prompt: input.prompt,
      permission: input.permission,
      parentTier: parentTier(existing?.id, state, world),
      spaceFs: existing === undefined ? undefined : spacePlace(state.place, existing.id).fs,
      recorded:
        record === undefined
          ? undefined
          : { ...record, name: `Chat ${record.chatId}`, permission: asTier(record.permission) },
    },
    loaded,
    world,
  )
  if (record !== undefined && prepared.entry.id !== record.harness)
    throw new Failure("HARNESS_MISMATCH", {
      chat: record.chatId,
      started: harnessEntry(world, record.harness)?.name ?? record.harness,
      asked: prepared.entry.name,
    })
  return prepared
}

/** The permission a continuation starts from: the flag, or the earlier request if it is still granted. */
const askedPermission = (
  input: Input,
  continuation: Continuation | undefined,
  { permission }: Prepared,
): PermissionTier | undefined =>
  input.permission ?? (continuation?.record.permission === permission ? permission : undefined)

const planLaunch = async (
  input: Input,
  {
    prepared,
    fork,
    adopted,
    config,
    continuation,
    state,
    world,
    sandbox,
  }: Chosen & {
    readonly sandbox: SandboxUse | undefined
    readonly prepared: Prepared
    readonly config: Config
    readonly fork: boolean
    readonly adopted: FoundSession | undefined
  },
): Promise<{ readonly harness: Harness; readonly plan: LaunchPlan; readonly params: readonly string[] }> => {
  const { harness } = prepared
  const asked = [...input.passthrough, ...input.args]
  harness.checkParams?.(asked)
  const believed =
    continuation === undefined
      ? undefined
      : believeRecord(continuation.record, {
          harness: harness.id,
          space: continuation.space.id,
          state,
          world,
        })
  const params = mergeParams(harness.id, believed?.params ?? [], asked)
  const earlier = continuation?.harnessSessionId ?? adopted?.id
  const given = input.cwd === undefined ? undefined : resolve(world.cwd, input.cwd)
  const cwd = believed?.cwd ?? adopted?.directory ?? given ?? state.place.project
  const environment = input.dryRun ? world.env : launchEnvironment(world)
  const request: LaunchRequest = {
    mode: "interactive",
    cwd,
    environment,
    session: await sessionFor({ earlier, fork, harness, world }),
    params,
    ...ownSandbox({ sandbox }, harness.id),
    scratch: join(tmpdir(), `meridian-${world.uuid()}`),
    ...sparse({
      binary: binaryOf(config, prepared),
      model: prepared.harnessModel,
      prompt: prepared.prompt === "" ? undefined : prepared.prompt,
      instructions: prepared.instructions,
      instructionsChanged: prepared.instructionsChanged ? true : undefined,
      agent: prepared.nativeAgent,
      permission: prepared.permission,
      allowedTools: prepared.allowedTools,
      effort: prepared.effort,
      continuity: input.dryRun
        ? undefined
        : await world.continuity?.({ harness: harness.id, cwd, env: environment }),
    }),
  }
  const rest = chatBudget(input, { harness, world })
  const plan = harness.launch({ ...request, ...(rest === undefined ? {} : { rest }) })
  requireLaunchable({
    harness: harness.name,
    command: plan.command,
    cwd,
    env: { ...world.env, ...plan.environment },
  })
  for (const { code, facts } of plan.warnings) world.warn(code, facts)
  // Dropped flags were already reported, so a continuation need not repeat that.
  return { harness, plan, params: fitParams(harness, params).args }
}

/** Only our own conversation reports its usage. The other harnesses set their own bounds. */
const chatBudget = (
  input: Input,
  { harness, world }: { readonly harness: Harness; readonly world: World },
): Rest | undefined => {
  const asked = mergeCaps(undefined, capsAsked(input))
  if (harness.id === "direct") return restOf(asked, NOTHING_SPENT)
  if (asked !== undefined)
    world.warn("CAP_NOT_HELD", {
      harness: harness.name,
      caps: "--max-cost, --max-tokens, --max-turns and --max-time",
    })
  return undefined
}

/** A conversation left before its first message starts over under its id: there is nothing to continue yet. */
const sessionFor = async (options: {
  readonly earlier: string | undefined
  readonly fork: boolean
  readonly harness: Harness
  readonly world: World
}): Promise<LaunchRequest["session"]> => {
  const { earlier, fork, harness, world } = options
  if (earlier === undefined) return { kind: "new", chosen: world.uuid() }
  const id = harnessSessionId(earlier)
  if ((await harness.isKept?.({ id, environment: world.env })) === false)
    return { kind: "new", chosen: fork ? world.uuid() : id }
  return fork ? { id, kind: "fork", chosen: world.uuid() } : { id, kind: "continue" }
}

/** From here on we write to disk: the space is created or reused, named, and cleared of dead chats. */
const openSpace = async (
  input: Input,
  options: {
    readonly existing: Space | undefined
    readonly state: State
    readonly world: World
  },
): Promise<Space> => {
  const { existing, state, world } = options
  const { name } = input
  if (existing === undefined) return createSpace(state.place, { name, now: state.now() })
  const space =
    name === undefined || name === existing.name
      ? existing
      : await changeSpace(state.place, existing.id, (now) => ({ ...now, name }))
  // We found it and the user did not name it. `--continue` with a value names it too.
  if (input.space === undefined && (input.continue ?? "") === "")
    world.warn("SPACE_AUTO_RESUMED", {
      space: space.id,
      ...(space.name === undefined ? {} : { name: space.name }),
    })
  await keepGitignore(state.place)
  await sweepSpace(spacePlace(state.place, space.id), state)
  return space
}
