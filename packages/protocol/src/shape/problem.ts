/** What is wrong with a value: where, what was expected, what came. Only one problem, the most helpful. */
import { oneLine } from "../plain-text.ts"

export type Problem = {
  /** Names and positions from outside to inside; empty for the value itself. */
  readonly path: readonly (string | number)[]
} & (
  | { readonly kind: "missing" }
  | { readonly kind: "unknown"; readonly meant: string | undefined }
  | { readonly kind: "wrong"; readonly expected: string; readonly got: string }
  /** A record of a version that this program cannot read. */
  | { readonly kind: "version"; readonly found: number; readonly known: number }
)

/** A sentence without its full stop: "`prompt.text` must be text, not a number". `what` names the value itself. */
export const problemText = (problem: Problem, what: string): string => {
  const where = problem.path.length === 0 ? what : `\`${pathText(problem.path)}\``
  switch (problem.kind) {
    case "missing":
      return `${where} is missing`
    case "unknown":
      return `${where} is not known here${problem.meant === undefined ? "" : ` (did you mean \`${problem.meant}\`?)`}`
    case "wrong":
      return `${where} must be ${problem.expected}, not ${problem.got}`
    case "version":
      return `${where} has version ${problem.found}; this Meridian reads up to ${problem.known}`
  }
}

/** `files.0.name`: the path to the value, with each step shortened for display. */
const pathText = (path: Problem["path"]): string => path.map((step) => oneLine(String(step), 80)).join(".")
