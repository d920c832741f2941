/** The fields in parts of a log: labelled values with the bullets under them, and the meaning of unlabelled bullets. */
import { type Item, readItems } from "../markdown/item.ts"
import type { Line } from "../markdown/line.ts"
import { isTakenBack, saysNothing, speaksOfBlock } from "./absence.ts"
import { speaksOfDecision } from "./approval.ts"
import type { Part } from "./entry.ts"
import { type Field, type Labelled, readLabel, readLabelAlone } from "./label.ts"

export interface Collected {
  /** The values in the order of the parts, each once. */
  readonly of: (field: Field) => readonly string[]
  /** The text of these parts, one entry per item. */
  readonly linesOf: (parts: readonly Part[]) => readonly string[]
}

export const collectFields = (parts: readonly Part[]): Collected => {
  const values = new Map<Field, string[]>()
  const lines = new Map<Part, readonly string[]>()
  const add = (field: Field, value: string): void => {
    if (saysNothing(value) || isTakenBack(value)) return
    const known = values.get(field)
    if (known === undefined) values.set(field, [value])
    else known.push(value)
  }
  for (const part of parts) {
    const items = readItems(part.lines, startsField)
    lines.set(
      part,
      items.map(({ text, box }) => (isChecked(box) ? `[x] ${text}` : text)),
    )
    for (let index = 0; index < items.length; index += 1) {
      const item = items[index]
      if (item === undefined) continue
      const labelled = labelOf(item.text)
      if (labelled === undefined) addPlain(part, item, add)
      else {
        const children = childrenOf(items, index, labelled)
        addLabelled(labelled, children, add)
        index += children.length
      }
    }
  }
  return {
    of: (field) => [...new Set(values.get(field))],
    linesOf: (wanted) => wanted.flatMap((part) => lines.get(part) ?? []),
  }
}

type Add = (field: Field, value: string) => void

const labelOf = (text: string): Labelled | undefined =>
  readLabel(text) ?? (text.startsWith("**") || text.startsWith("__") ? readLabelAlone(text) : undefined)

/** A known label always starts a field. Another label does when it is bold or not indented under the line before it. */
const startsField = (line: Line, head: Line): boolean =>
  labelOf(line.text) !== undefined ||
  /^(?:\*\*|__)[^*_:]{1,40}(?::(?:\*\*|__)|(?:\*\*|__):)/.test(line.text) ||
  (line.indent <= head.indent && /^[A-Z][\w /-]{0,30}:(?:\s|$)/.test(line.text))

/** The bullets below a labelled bullet, or all bullets after a label on its own line. */
const childrenOf = (items: readonly Item[], at: number, { value }: Labelled): readonly Item[] => {
  const head = items[at]
  const children: Item[] = []
  for (let index = at + 1; index < items.length; index += 1) {
    const item = items[index]
    if (item === undefined || head === undefined || !item.bullet || labelOf(item.text) !== undefined) break
    if (head.bullet ? item.indent <= head.indent : value !== "") break
    children.push(item)
  }
  return children
}

const addLabelled = ({ field, label, value }: Labelled, children: readonly Item[], add: Add): void => {
  const holds = !saysNothing(value) && !isTakenBack(value)
  if (field === "decisions") {
    const reasons = children.map(({ text }) => text)
    if (value === "") for (const reason of reasons) add(field, reason)
    else if (holds) add(field, `${label}: ${[value, ...reasons].join("; ")}`)
    return
  }
  // A blocker keeps its label, as it was written and as the brief shows it.
  if (field !== "blockers") add(field, value)
  else if (holds && !isResolved(value)) add(field, `${label}: ${value}`)
  for (const child of children) addTo(field, child, add)
}

const addPlain = (part: Part, item: Item, add: Add): void => {
  if (part.field !== undefined) return addTo(part.field, item, add)
  if (speaksOfBlock(item.text)) add("blockers", item.text)
  if (!item.bullet) return
  if (speaksOfDecision(item.text)) add("decisions", item.text)
  if (item.box !== undefined) return addTo("open-work", item, add)
  if (part.role === "entry") add("completed", item.text)
  if (part.role === "brief") add("open-work", item.text)
}

/** A checked box means done in any field. */
const addTo = (field: Field, item: Item, add: Add): void => {
  const done = isChecked(item.box)
  if (field === "blockers" && (done || isResolved(item.text))) return
  add(done && (field === "open-work" || field === "next-action") ? "completed" : field, item.text)
}

const isChecked = (box: string | undefined): boolean => box !== undefined && "xX✓✔".includes(box)

const isResolved = (text: string): boolean =>
  /^(?:un-?blocked|not blocked|no longer|resolved|cleared|fixed)\b/i.test(text) ||
  /[([](?:resolved|cleared|fixed|unblocked|done)\b[^)\]]{0,60}[)\]]\.?$/i.test(text.slice(-80))
