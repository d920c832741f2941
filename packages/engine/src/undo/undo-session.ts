/**
 * Undoes the work of prompts, and redoes it. The session is held during this, so no process works on it. First the plan is
 * recorded, with both states of every file in kept trees. Then the files change. Then the end is recorded, and with it the
 * conversation changes.
 */
import { Failure } from "@meridian/protocol"
import { Effect } from "effect"

import { LIMITS } from "../domain/limits.ts"
import { openStepOf } from "../domain/transcript/transcript.ts"
import type { FileTreePair, OpenUndo, PromptMark, Undoing } from "../domain/transcript/undoing.ts"
import { fileWindows, joinChanges, undoable, type TurnChanges, type Wish } from "../domain/undo.ts"
import type { FilePlaces } from "../port/file-trees.ts"
import { Ids } from "../port/ids.ts"
import { Store, type Acquisition } from "../port/store.ts"
import { settle, type LostProcesses } from "../schedule/index.ts"
import { finishUndo, openSessions, type SessionHandle, type Settings } from "../session/index.ts"
import type { FoldedSessions, Signals } from "../session/index.ts"
import { changeOf, changesOfTurn, planRestore, withFiles, type RestoredFile } from "./restore-plan.ts"

export interface UndoWish {
  readonly sessionID: string
  readonly conversation: boolean
  readonly files: boolean
  /** Overwrites even files that others have changed since. */
  readonly overwrite: boolean
}

export interface Undone {
  readonly undoID: string
  /** The undone or redone prompts, oldest first. */
  readonly prompts: readonly PromptMark[]
  readonly conversation: boolean
  readonly files: readonly RestoredFile[]
  /** Files that somebody changed at that very moment. They are left unchanged. */
  readonly left: readonly string[]
  /** Why the files of some turns could not be restored: they were not kept. */
  readonly missed: readonly string[]
}

export type UndoServices = Store | FoldedSessions | Signals | Settings | Ids | FilePlaces | LostProcesses

export const undoSession = (
  wish: UndoWish & {
    /** The last `count` prompts, or all from a place of the log on. */
    readonly last: { readonly count: number } | { readonly from: number }
  },
): Effect.Effect<Undone, Failure, UndoServices> =>
  holding(wish.sessionID, (session) =>
    Effect.gen(function* () {
      const { open } = session.transcript().undoing
      const asked = choosePrompts(session.transcript().undoing, wish)
      if (open !== undefined) {
        const { missed } = session.transcript().undoing
        const finished = yield* finish(session, open)
        // The request is repeated after its process was lost. This is its answer.
        if (isSameUndo(open, asked[0], wish))
          return { ...finished, prompts: asked, missed: reasonsSince(missed, open) }
      }
      const { undoing } = session.transcript()
      const prompts = choosePrompts(undoing, wish)
      const from = prompts[0]
      const count = "count" in wish.last ? wish.last.count : 1
      if (from === undefined || prompts.length < count)
        return yield* Effect.fail(
          new Failure("NOTHING_TO_UNDO", {
            session: wish.sessionID,
            count,
            most: undoable(undoing, wish).length,
          }),
        )
      const trees = wish.files
        ? yield* withFiles(undoing.location, async (files) => {
            const windows = fileWindows(undoing, { from: from.seq, before: Number.MAX_SAFE_INTEGER })
            const turns: TurnChanges[] = []
            for (const window of windows)
              if (window.location === undoing.location) turns.push(await changesOfTurn(files, window))
            return planRestore(files, joinChanges(turns), wish)
          }).pipe((planned) => unlessNothingKept(undoing, from.seq, planned))
        : undefined
      const finished = yield* carryOut(session, { action: "undo", from: from.seq, wish, trees })
      return { ...finished, prompts, missed: reasonsSince(undoing.missed, { ...wish, from: from.seq }) }
    }),
  )

const choosePrompts = (undoing: Undoing, wish: Parameters<typeof undoSession>[0]): readonly PromptMark[] => {
  const all = undoable(undoing, wish)
  const { last } = wish
  return "from" in last ? all.filter(({ seq }) => seq >= last.from) : all.slice(-last.count)
}

const isSameUndo = (open: OpenUndo, first: PromptMark | undefined, wish: UndoWish): boolean =>
  open.action === "undo" &&
  open.from === first?.seq &&
  open.conversation === wish.conversation &&
  open.files === wish.files

/** Redoes the last undo as it was done: conversation, files, or both. */
export const redoSession = (
  wish: Pick<UndoWish, "sessionID" | "overwrite">,
): Effect.Effect<Undone, Failure, UndoServices> =>
  holding(wish.sessionID, (session) =>
    Effect.gen(function* () {
      const { open, undone: before } = session.transcript().undoing
      if (open !== undefined) {
        const finished = yield* finish(session, open)
        const prompts = before.find(({ undoID }) => undoID === open.redoes)?.prompts ?? []
        if (open.action === "redo") return { ...finished, prompts, missed: [] }
      }
      const { undone, redoable, location } = session.transcript().undoing
      const mark = undone.at(-1)
      if (mark === undefined || redoable === 0)
        return yield* Effect.fail(new Failure("NOTHING_TO_REDO", { session: wish.sessionID }))
      const { from, conversation, files, undoID: redoes } = mark
      const kept = mark.trees
      const trees =
        kept === undefined
          ? undefined
          : yield* withFiles(location, async (places) => {
              const changes = await places.compare(kept.wanted, kept.now)
              const wishes = changes.map(({ path, before: left, after }): Wish => ({
                path,
                to: after,
                left,
                isDoubtful: false,
              }))
              return planRestore(places, wishes, wish)
            })
      const again = { ...wish, conversation, files }
      const finished = yield* carryOut(session, { action: "redo", from, wish: again, trees, redoes })
      return { ...finished, prompts: mark.prompts, missed: [] }
    }),
  )

type Finished = Omit<Undone, "prompts" | "missed">

const carryOut = (
  session: SessionHandle,
  {
    action,
    from,
    wish: { sessionID, conversation, files },
    trees,
    redoes,
  }: {
    readonly action: "undo" | "redo"
    readonly from: number
    readonly wish: UndoWish
    readonly trees: FileTreePair | undefined
    readonly redoes?: string
  },
): Effect.Effect<Finished, Failure, FilePlaces | Settings | Ids> =>
  Effect.gen(function* () {
    const undoID = (yield* Ids).next("und_")
    const { location } = session.transcript().undoing
    if (trees !== undefined)
      yield* withFiles(location, (places) => places.hold(sessionID, [trees.now, trees.wanted]))
    yield* session.decideToAct(() => ({
      kind: "append",
      events: [
        {
          type: "session.next.undo.started.1",
          data: {
            undoID,
            action,
            from,
            conversation,
            files,
            ...(redoes === undefined ? {} : { redoes }),
            ...(trees === undefined ? {} : { trees }),
          },
        },
      ],
      answer: () => undefined,
    }))
    return yield* finish(session, { undoID, conversation })
  })

const finish = (
  session: SessionHandle,
  { undoID, conversation }: Pick<OpenUndo, "undoID" | "conversation">,
): Effect.Effect<Finished, Failure, FilePlaces | Settings> =>
  Effect.map(finishUndo(session), (finished) => ({
    undoID,
    conversation,
    files: (finished?.changed ?? []).map(({ path, before, after }) => ({
      path,
      change: changeOf(before !== undefined, after !== undefined),
    })),
    left: finished?.left ?? [],
  }))

/** When no file was ever kept, a missing git does not prevent undoing the conversation. */
const unlessNothingKept = <R>(
  undoing: Undoing,
  from: number,
  planned: Effect.Effect<FileTreePair | undefined, Failure, R>,
): Effect.Effect<FileTreePair | undefined, Failure, R> =>
  fileWindows(undoing, { from, before: Number.MAX_SAFE_INTEGER }).length === 0
    ? Effect.succeed(undefined)
    : planned

const reasonsSince = (
  missed: Undoing["missed"],
  { from, files }: { readonly from: number; readonly files: boolean },
): readonly string[] =>
  files ? [...new Set(missed.filter(({ seq }) => seq >= from).map(({ reason }) => reason))] : []

/** Settled work releases the session within a moment. */
const acquireSoon = (id: string, attempts = 40): Effect.Effect<Acquisition, Failure, Store> =>
  Effect.flatMap(
    Store.use(({ leases }) => leases.acquire(id)),
    (lease) =>
      lease.kind === "acquired" || attempts === 0
        ? Effect.succeed(lease)
        : Effect.andThen(Effect.sleep(LIMITS.leasePollMs), acquireSoon(id, attempts - 1)),
  )

/** No other process works on the session while `use` runs, and it has no open work. It may have a begun undo. */
const holding = <A, R>(
  id: string,
  use: (session: SessionHandle) => Effect.Effect<A, Failure, R>,
): Effect.Effect<A, Failure, R | UndoServices> =>
  Effect.gen(function* () {
    const { leases } = yield* Store
    const withSession = yield* openSessions
    return yield* Effect.acquireUseRelease(
      acquireSoon(id),
      (lease) =>
        lease.kind !== "acquired"
          ? Effect.fail(new Failure("SESSION_IN_USE", { session: id }))
          : withSession({ fence: lease.fence, released: () => 0 }, (session) =>
              Effect.gen(function* () {
                yield* session.refresh
                yield* settle(session, lease)
                const transcript = session.transcript()
                if (transcript.calls.open.length > 0 || openStepOf(transcript) !== undefined)
                  return yield* Effect.fail(new Failure("SESSION_IN_USE", { session: id }))
                return yield* use(session)
              }),
            ),
      (lease) => (lease.kind !== "acquired" ? Effect.void : leases.release(lease.fence)),
    )
  }).pipe(Effect.uninterruptible)
