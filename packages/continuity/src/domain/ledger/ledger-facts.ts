/** The ledger as facts for a brief: what it knows, in the original words, oldest first. */
import type { Fact, FactKind } from "../fact.ts"
import { type Place, projectPath } from "../working-set/working-set.ts"
import type { LedgerState } from "./ledger-state.ts"
import { settleLedger } from "./ledger.ts"
import { isGreeting } from "./task.ts"
import type { WorkItem } from "./work-list.ts"

/** The source of these facts: the conversation itself. */
export const CONVERSATION = "conversation"

export interface LedgerFactsOptions {
  /** For shortening paths. Without it files are shown as they were named. */
  readonly place?: Place
}

export const ledgerFacts = (before: LedgerState, options: LedgerFactsOptions = {}): readonly Fact[] => {
  const state = settleLedger(before)
  const facts: Fact[] = []
  const add = (kind: FactKind, text: string, order: number, key?: string): void => {
    facts.push({ kind, text, source: CONVERSATION, order, ...(key === undefined ? {} : { key }) })
  }

  const { task } = state
  if (task !== undefined) add("task", task.text, task.order)
  for (const { text, order } of state.taskChanges) add("task-change", text, order)
  const latest = state.prompts.findLast(({ text }) => !isGreeting(text))
  if (latest !== undefined && latest.order !== task?.order) add("request", latest.text, latest.order)

  for (const { kind, text, order } of state.said) {
    if (kind === "objective") add(kind, text, order, "said")
    else if (kind !== "constraint" || !isToldAlready(text, state)) add(kind, text, order)
  }

  if (state.agent !== undefined) add("agent", state.agent, state.count)
  if (state.mode !== undefined && state.mode !== "default") add("mode", `Mode: ${state.mode}`, state.count)
  for (const { name, order } of state.skills) add("skill", `Skill: ${name}`, order, name)
  for (const { id, command, order } of state.runs) add("run", `${id} (${command})`, order, id)
  for (const file of state.files) {
    const path = options.place === undefined ? file.path : projectPath(file.path, options.place)
    if (path !== undefined) add("file", path, file.order)
  }
  addWork(state, add)
  for (const { invented, order } of state.compactions)
    for (const claim of invented) add("invented", contradiction(claim), order)
  return facts.toSorted((left, right) => left.order - right.order)
}

/**
 * For a host whose summary is not known yet: what the user really said, so that anything else the summary attributes to the
 * user can be recognised. Empty when some messages are unknown.
 */
export const unseenSummaryFacts = ({ prompts, promptsDropped, task }: LedgerState): readonly Fact[] => {
  if (promptsDropped > 0 || prompts.length === 0) return []
  const others = prompts.slice(0, -1).filter(({ order }) => order !== task?.order)
  const count = prompts.length === 1 ? "one message" : `${prompts.length} messages`
  return [
    ...others.map(({ text, order }): Fact => ({ kind: "user-message", text, source: CONVERSATION, order })),
    {
      kind: "invented",
      text: `The user sent ${count} before the summary was written. A request that the summary ascribes to the user and that none of them holds was never made.`,
      source: CONVERSATION,
      order: Number.MAX_SAFE_INTEGER,
      key: "unseen summary",
    },
  ]
}

/** The files in use, relative to the project, most recent last. */
export const ledgerPaths = ({ files }: LedgerState, place: Place): readonly string[] =>
  files.flatMap(({ path }) => projectPath(path, place) ?? [])

export const contradiction = (claim: string): string =>
  `The summary says the user asked "${claim}"; no such message exists.`

type Add = (kind: FactKind, text: string, order: number, key?: string) => void

const addWork = ({ work }: LedgerState, add: Add): void => {
  const { goal, order } = work
  if (goal !== undefined && goal.status !== "complete")
    add("todo", `Goal: ${goal.objective} (${goal.status})`, order, "goal")
  for (const item of work.items.toSorted((left, right) => urgency(left) - urgency(right))) {
    if (item.status === "cancelled") continue
    const text = item.status === "in_progress" ? `${item.content} (in progress)` : item.content
    add(item.status === "completed" ? "completed" : "todo", text, order)
  }
}

const URGENCY: Readonly<Record<WorkItem["status"], number>> = {
  in_progress: 0,
  pending: 1,
  completed: 2,
  cancelled: 3,
}

const urgency = ({ status }: WorkItem): number => URGENCY[status]

/** The task is pinned in full, with its changes, so a constraint inside it need not be repeated. */
const isToldAlready = (sentence: string, { task, taskChanges }: LedgerState): boolean =>
  task?.text.slice(0, SURELY_SHOWN).includes(sentence) === true ||
  taskChanges.some(({ text }) => text === sentence)

/** How much of a task nearly every budget has room for. */
const SURELY_SHOWN = 600
