import { useState } from "preact/hooks"

import type { DiffLine, FileChange } from "../domain/file-change.ts"

/** Shown at once; the rest on request. */
const SHORT_LINES = 24

export const FileDiff = ({ change }: { readonly change: FileChange }) => {
  const [isAll, setIsAll] = useState(false)
  const lines = isAll ? change.lines : change.lines.slice(0, SHORT_LINES)
  const folded = change.lines.length - lines.length
  return (
    <div class="diff" role="group" aria-label="Change">
      <pre tabIndex={0}>
        {lines.map((line, index) => (
          <span key={index} class={`diff-line is-${line.kind}`}>
            <span class="diff-sign">{SIGN[line.kind]}</span>
            {line.text}
          </span>
        ))}
      </pre>
      {folded > 0 || isAll ? (
        <button type="button" class="quiet" aria-expanded={isAll} onClick={() => setIsAll(!isAll)}>
          {isAll ? "Show less" : `Show all (${folded.toLocaleString()} more lines)`}
        </button>
      ) : null}
      {isAll && change.hidden > 0 ? (
        <p class="faint">{change.hidden.toLocaleString()} more lines are only in the log</p>
      ) : null}
    </div>
  )
}

/** A sign in addition to the colour, because not everybody sees colours. */
const SIGN = {
  same: " ",
  added: "+",
  removed: "−",
  gap: "⋯",
  file: "",
} as const satisfies Record<DiffLine["kind"], string>
