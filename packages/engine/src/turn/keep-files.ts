/**
 * Keeps the files of the place around one turn: before a call first changes any of them, and after every call has settled.
 * Files that cannot be kept are recorded and the turn continues. Such a turn cannot be undone.
 */
import { resolve } from "node:path"

import type { DurableEvent, Failure, Json, MessageId } from "@meridian/protocol"
import { Effect, Semaphore } from "effect"

import { LIMITS } from "../domain/limits.ts"
import { changesOf } from "../domain/tool-traits.ts"
import { FilePlaces, type FileStay, type FileTrees, type TakenTree } from "../port/file-trees.ts"
import type { PermissionQuestion } from "../port/tool.ts"
import type { TurnScene } from "../session/index.ts"

export interface KeptTurn {
  /** Completes when the call may make the change that was just allowed. */
  readonly before: (
    call: { readonly tool: string; readonly input: Json },
    question: PermissionQuestion,
  ) => Effect.Effect<void, Failure, FilePlaces>
  /** Runs after every call has settled; undefined: there is nothing to keep. */
  readonly after: () => Effect.Effect<void, Failure, FilePlaces> | undefined
}

/** An opened place, and what is kept of it for this turn. */
interface Keeping {
  readonly files: FileTrees
  readonly stay: FileStay
}

export const keepTurn = (scene: TurnScene, turn: MessageId): KeptTurn => {
  const { session, cast } = scene
  /** One at a time: the second call finds what the first has kept. */
  const turns = Semaphore.makeUnsafe(1)
  const named = new Set<string>()
  const trees: string[] = []
  let all = false
  let missed = false
  let keeping: Keeping | undefined

  const open: Effect.Effect<Keeping, Error, FilePlaces> = Effect.flatMap(FilePlaces, ({ at }) =>
    keeping === undefined
      ? Effect.map(
          attempt(() => at(scene.location.directory)),
          (files) =>
            (keeping = {
              files,
              stay: files.enter(session.id, session.transcript().choices.task?.sessionID),
            }),
        )
      : Effect.succeed(keeping),
  )

  const keep = (
    moment: "before" | "after",
    paths: readonly string[] | undefined,
  ): Effect.Effect<void, Failure, FilePlaces> =>
    Effect.gen(function* () {
      const { files, stay } = yield* open
      const taken = yield* attempt(() => files.take(paths))
      trees.push(taken.tree)
      if (moment === "before") stay.changes(paths === undefined ? undefined : taken.paths)
      const met = moment === "after" && paths === undefined ? stay.leave() : undefined
      return keptEvent(turn, { moment, scope: paths === undefined ? "all" : "named", taken, met })
    }).pipe(
      Effect.matchEffect({
        onSuccess: (event) => session.append([event]),
        onFailure: ({ message }) => {
          if (missed) return Effect.void
          missed = true
          return session.append([missedEvent(turn, moment, message)])
        },
      }),
    )

  const before: KeptTurn["before"] = (call, question) =>
    Effect.gen(function* () {
      const { keeps } = yield* FilePlaces
      const changes = changesOf(cast.traitsOf(call.tool), call.input)
      if (!keeps || changes === "none" || (changes === "asked" && question.action !== "edit")) return
      yield* turns.withPermit(
        Effect.suspend(() => {
          if (changes === "any") {
            if (all) return Effect.void
            all = true
            return keep("before", undefined)
          }
          const fresh = question.resources
            .map((resource) => resolve(scene.location.directory, resource))
            .filter((path) => !named.has(path))
          for (const path of fresh) named.add(path)
          return fresh.length === 0 ? Effect.void : keep("before", fresh)
        }),
      )
    })

  /** Until now git protects new objects on its own, for days. */
  const hold = Effect.suspend(() =>
    keeping === undefined || trees.length === 0
      ? Effect.void
      : Effect.ignore(attempt(() => keeping?.files.hold(session.id, trees) ?? Promise.resolve())),
  )

  const after: KeptTurn["after"] = () =>
    !all && named.size === 0
      ? undefined
      : turns.withPermit(
          Effect.gen(function* () {
            if (named.size > 0) yield* keep("after", [...named])
            if (all) yield* keep("after", undefined)
            else keeping?.stay.leave()
            yield* hold
          }),
        )

  return { before, after }
}

const attempt = <A>(work: () => Promise<A>): Effect.Effect<A, Error> =>
  Effect.tryPromise({
    try: work,
    catch: (cause) => (cause instanceof Error ? cause : new Error(String(cause))),
  })

const keptEvent = (
  assistantMessageID: MessageId,
  {
    moment,
    scope,
    taken: { tree, paths, skipped },
    met,
  }: {
    readonly moment: "before" | "after"
    readonly scope: "all" | "named"
    readonly taken: TakenTree
    readonly met: ReturnType<FileStay["leave"]> | undefined
  },
): DurableEvent => ({
  type: "session.next.files.kept.1",
  data: {
    assistantMessageID,
    moment,
    scope,
    tree,
    ...(paths.length === 0 ? {} : { paths: few(paths) }),
    ...(skipped.length === 0 ? {} : { skipped: few(skipped) }),
    ...(met?.shared === true ? { shared: true } : {}),
    ...(met === undefined || met.others.length === 0 ? {} : { others: few(met.others) }),
  },
})

const few = (paths: readonly string[]): string[] => paths.slice(0, LIMITS.namedFiles)

const missedEvent = (
  assistantMessageID: MessageId,
  moment: "before" | "after",
  reason: string,
): DurableEvent => ({
  type: "session.next.files.missed.1",
  data: { assistantMessageID, moment, reason: reason.slice(0, LIMITS.recordedErrorCharacters) },
})
