/** What a row is called by those who hear the page instead of seeing it. */
import type { Row } from "./row.ts"

export const rowLabel = (row: Row): string => {
  switch (row.kind) {
    case "user":
      return "Your prompt"
    case "turn":
      return `Turn ${row.turn}, ${row.outcome}`
    case "text":
      return row.live ? "Answer, being written" : "Answer"
    case "reasoning":
      return "Reasoning"
    case "tool":
      return `Tool ${row.tool}, ${row.outcome}`
    case "compaction":
      return `Compaction, ${row.status}`
    case "notice":
      return row.what === "crash" ? "Crash" : "Notice"
  }
}
