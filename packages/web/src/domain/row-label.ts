/** The name of a row for screen readers. */
import type { Row, ToolOutcome, TurnOutcome } from "./row.ts"

/** The state of a turn or a call in words. A crash and a stopped server leave the same record. */
export const OUTCOME = {
  running: "running",
  waiting: "waits for permission",
  success: "done",
  ended: "ended",
  failed: "failed",
  interrupted: "interrupted",
  crashed: "cut off: its process ended",
} as const satisfies Record<TurnOutcome | ToolOutcome, string>

export const rowLabel = (row: Row): string => {
  switch (row.kind) {
    case "user":
      return "Your prompt"
    case "turn":
      return `Turn ${row.turn}, ${OUTCOME[row.outcome]}`
    case "text":
      return row.live ? "Answer, being written" : "Answer"
    case "reasoning":
      return "Reasoning"
    case "tool":
      return `Tool ${row.tool}, ${OUTCOME[row.outcome]}`
    case "compaction":
      return `Compaction, ${row.status}`
    case "notice":
      return row.what === "crash" ? "The process ended" : "Notice"
  }
}
