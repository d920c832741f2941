import { plainText } from "@meridian/protocol"
import type { DiffFile, DiffHunk, RunDocument } from "@meridian/server/client"
import { useState } from "preact/hooks"

import { changeText, numberedLines, placeOf, type NumberedLine } from "../domain/run-diff.ts"
import { LineComment } from "./line-comment.tsx"

/** One file of a diff. Its lines are created when it is opened. */
export const ChangedFile = (props: {
  readonly run: RunDocument
  readonly file: DiffFile
  readonly isOpen: boolean
}) => {
  const { run, file } = props
  const [isOpen, setIsOpen] = useState(props.isOpen)
  const [most, setMost] = useState(FIRST_LINES)
  const path = plainText(file.path)
  const what = changeText(file)
  const total = file.hunks.reduce((sum, { lines }) => sum + lines.length, 0)
  let left = most
  const hunks = file.hunks.flatMap((hunk) => {
    const lines = hunk.lines.slice(0, Math.max(0, left))
    left -= hunk.lines.length
    return lines.length === 0 ? [] : [{ ...hunk, lines }]
  })
  return (
    <details class="changed-file" open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>
        <code>{path}</code>
        {what === "" ? null : <span class="faint"> {what}</span>}
        <span class="faint">
          {" "}
          +{file.additions} −{file.deletions}
        </span>
      </summary>
      {!isOpen
        ? null
        : hunks.map((hunk) => (
            <Hunk key={`${hunk.oldStart} ${hunk.newStart}`} run={run} path={file.path} hunk={hunk} />
          ))}
      {isOpen && total > most ? (
        <button type="button" class="quiet" onClick={() => setMost(most + MORE_LINES)}>
          Show more ({(total - most).toLocaleString()} lines left)
        </button>
      ) : null}
    </details>
  )
}

const FIRST_LINES = 400
const MORE_LINES = 2_000

const Hunk = (props: { readonly run: RunDocument; readonly path: string; readonly hunk: DiffHunk }) => {
  const { run, path, hunk } = props
  const [chosen, setChosen] = useState<number>()
  const lines = numberedLines(hunk)
  const heading = `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`
  return (
    <div class="hunk" role="group" aria-label={`${plainText(path)} ${heading}`} onKeyDown={moveByArrows}>
      <p class="hunk-head">
        {heading} {plainText(hunk.heading)}
      </p>
      {lines.map((line, index) => (
        <Line
          key={index}
          line={line}
          path={path}
          isFirst={index === 0}
          choose={() => setChosen(chosen === index ? undefined : index)}
        >
          {chosen === index ? (
            <Comment run={run} path={path} line={line} close={() => setChosen(undefined)} />
          ) : null}
        </Line>
      ))}
    </div>
  )
}

const Line = (props: {
  readonly line: NumberedLine
  readonly path: string
  readonly isFirst: boolean
  readonly choose: () => void
  readonly children: preact.ComponentChildren
}) => {
  const { line, path, isFirst, choose, children } = props
  const at = placeOf(path, line)
  return (
    <>
      <div class={`hunk-line is-${line.kind}`}>
        {at === undefined ? (
          <span class="line-number" />
        ) : (
          <button
            type="button"
            class="line-number"
            tabIndex={isFirst ? 0 : -1}
            aria-label={`Comment on ${at.removed === true ? "removed line" : "line"} ${at.line}`}
            title="Comment"
            onClick={choose}
          >
            {at.line}
          </button>
        )}
        <code>
          <span class="diff-sign">{SIGN[line.kind]}</span>
          {line.text}
        </code>
      </div>
      {children}
    </>
  )
}

/** A sign in addition to the colour, because not everybody sees colours. */
const SIGN = { same: " ", added: "+", removed: "−", note: "\\" } as const satisfies Record<
  NumberedLine["kind"],
  string
>

const Comment = (props: {
  readonly run: RunDocument
  readonly path: string
  readonly line: NumberedLine
  readonly close: () => void
}) => {
  const at = placeOf(props.path, props.line)
  return at === undefined ? null : <LineComment run={props.run} at={at} close={props.close} />
}

/** The line numbers of a hunk are one stop of the Tab key; the arrow keys move between lines. */
const moveByArrows = (event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const numbers = [...event.currentTarget.querySelectorAll<HTMLElement>("button.line-number")]
  const here = numbers.findIndex((number) => number === document.activeElement)
  if (step === undefined || here === -1) return
  event.preventDefault()
  numbers[here + step]?.focus()
}
