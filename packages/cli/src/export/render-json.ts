/** An export for programs: `{ version, session, entries, hidden, lost }`, one entry a line. */
import { hiddenCount, type Renderer } from "./renderer.ts"

export const openJsonRenderer = (): Renderer => {
  let count = 0
  return {
    begin: (head) => `{"version":1,"session":${JSON.stringify(head)},"entries":[`,
    entry: (entry) => {
      count += 1
      return `${count === 1 ? "" : ","}\n${JSON.stringify(entry)}`
    },
    end: ({ hidden, lost }) =>
      `\n],"hidden":${JSON.stringify({ count: hiddenCount(hidden), kinds: Object.fromEntries(hidden) })},"lost":${JSON.stringify(lost)}}\n`,
  }
}
