/**
 * The calls of conversations, by how they ended: an agent that takes over a task must not repeat those that
 * succeeded. A fold.
 */
import type { SpokenPiece } from "@meridian/continuity"

import { describeCall } from "../direct/conversation/describe.ts"

export interface DoneCalls {
  /** Calls that changed or ran something, oldest first, without repeated sentences. */
  readonly succeeded: readonly string[]
  /** Succeeded calls that only looked. */
  readonly looks: number
  readonly failed: readonly string[]
  /** Calls without a recorded end. */
  readonly open: readonly string[]
}

export interface CallsFold {
  readonly take: (piece: SpokenPiece) => void
  readonly calls: () => DoneCalls
}

/** Of more calls than this, only the newest are kept. */
const MOST_KEPT = 500

export const foldCalls = (): CallsFold => {
  const open = new Map<string, { readonly words: string; readonly looks: boolean }>()
  const succeeded = new Set<string>()
  const failed = new Set<string>()
  let looks = 0
  const keep = (among: Set<string>, words: string): void => {
    // Ordered by the last success of each.
    among.delete(words)
    among.add(words)
    const [oldest] = among
    if (among.size > MOST_KEPT && oldest !== undefined) among.delete(oldest)
  }
  return {
    take: (piece) => {
      if (piece.kind === "call") {
        const words = describeCall(piece.tool, piece.input ?? piece.raw)
        open.set(piece.callID, { words, looks: LOOKING.has(piece.tool.toLowerCase()) })
      }
      if (piece.kind !== "result") return
      const call = open.get(piece.callID)
      if (call === undefined) return
      open.delete(piece.callID)
      if (piece.failed === true) keep(failed, call.words)
      else if (call.looks) looks += 1
      else {
        keep(succeeded, call.words)
        failed.delete(call.words)
      }
    },
    calls: () => ({
      succeeded: [...succeeded],
      looks,
      failed: [...failed],
      open: [...open.values()].map(({ words }) => words),
    }),
  }
}

const LOOKING: ReadonlySet<string> = new Set(["read", "glob", "grep", "ls", "list", "view_image", "lsp"])
