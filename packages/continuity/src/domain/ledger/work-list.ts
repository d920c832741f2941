/**
 * The todo list, in whichever tool it is kept: Claude Code's tasks and earlier todos, OpenCode's and the engine's todos,
 * Codex's plan and goal. An unknown shape changes nothing and is counted.
 */
import {
  asObject,
  listAt,
  numberAt,
  parseObject,
  textAt,
  wordAt,
  type JsonObject,
  type TodoItem,
} from "@meridian/protocol"

export interface WorkItem {
  /** The tool's id for the item; empty for lists that are always written in full. */
  readonly id: string
  readonly content: string
  readonly status: TodoItem["status"]
}

export interface Goal {
  readonly objective: string
  readonly status: string
}

export interface WorkList {
  readonly items: readonly WorkItem[]
  readonly goal?: Goal
}

export const WORK_LIMITS = { items: 200, content: 300 } as const

export type WorkChange =
  | { readonly tag: "changed"; readonly work: WorkList }
  | { readonly tag: "unknown" }
  /** The call has nothing to do with the todo list. */
  | { readonly tag: "none" }

/** For a call that succeeded. */
export const applyWorkCall = (
  work: WorkList,
  call: { readonly tool: string; readonly input: JsonObject | undefined; readonly output: string },
): WorkChange => {
  switch (call.tool.toLowerCase().replaceAll("_", "")) {
    case "todowrite":
      return written(work, call.input, { list: "todos", text: "content" })
    case "updateplan":
      return written(work, call.input, { list: "plan", text: "step" })
    case "taskcreate":
      return created(work, call)
    case "taskupdate":
      return updated(work, call.input)
    case "creategoal":
    case "updategoal":
    case "getgoal":
      return goalOf(work, call)
    default:
      return { tag: "none" }
  }
}

export const withItems = (work: WorkList, items: readonly TodoItem[]): WorkList => ({
  ...work,
  items: items
    .slice(0, WORK_LIMITS.items)
    .map(({ content, status }) => ({ id: "", content: content.slice(0, WORK_LIMITS.content), status })),
})

const STATUS: Readonly<Record<string, TodoItem["status"]>> = {
  pending: "pending",
  in_progress: "in_progress",
  completed: "completed",
  cancelled: "cancelled",
  canceled: "cancelled",
  deleted: "cancelled",
}

const written = (
  work: WorkList,
  input: JsonObject | undefined,
  names: { readonly list: string; readonly text: string },
): WorkChange => {
  const entries = listAt(input, names.list)
  const items = entries.flatMap((entry): readonly TodoItem[] => {
    const content = textAt(asObject(entry), names.text)
    const status = STATUS[wordAt(asObject(entry), "status")]
    return content === undefined || status === undefined ? [] : [{ content, status }]
  })
  if (!Array.isArray(input?.[names.list]) || items.length < entries.length) return { tag: "unknown" }
  return { tag: "changed", work: withItems(work, items) }
}

/** `Task #1 created successfully: write the parser` */
const created = (
  work: WorkList,
  { input, output }: { readonly input: JsonObject | undefined; readonly output: string },
): WorkChange => {
  const content = textAt(input, "subject") ?? textAt(input, "title") ?? textAt(input, "content")
  const id = /#(\w{1,40})/.exec(output)?.[1]
  if (content === undefined || id === undefined) return { tag: "unknown" }
  const item: WorkItem = { id, content: content.slice(0, WORK_LIMITS.content), status: "pending" }
  const others = work.items.filter((known) => known.id !== id)
  return { tag: "changed", work: { ...work, items: [...others, item].slice(-WORK_LIMITS.items) } }
}

const updated = (work: WorkList, input: JsonObject | undefined): WorkChange => {
  const id = idAt(input, "taskId") ?? idAt(input, "id")
  const known = work.items.find((item) => item.id === id)
  if (id === undefined || known === undefined) return { tag: "unknown" }
  const status = STATUS[wordAt(input, "status")] ?? known.status
  const content = (textAt(input, "subject") ?? known.content).slice(0, WORK_LIMITS.content)
  const items = work.items.map((item) => (item.id === id ? { id, content, status } : item))
  return { tag: "changed", work: { ...work, items } }
}

/** The tool writes `"1"`; models also write 1. */
const idAt = (input: JsonObject | undefined, name: string): string | undefined =>
  textAt(input, name) ?? numberAt(input, name)?.toString()

/** Items that the user cancelled are no longer work, until the tool lists them again. */
export const withoutItems = (work: WorkList, isTakenBack: (content: string) => boolean): WorkList => ({
  ...work,
  items: work.items.map((item) =>
    OPEN.has(item.status) && isTakenBack(item.content) ? { ...item, status: "cancelled" } : item,
  ),
})

const OPEN: ReadonlySet<WorkItem["status"]> = new Set(["pending", "in_progress"])

/** `{"goal":{"objective":"…","status":"active"},…}`. A cleared goal is null. */
const goalOf = (
  work: WorkList,
  { input, output }: { readonly input: JsonObject | undefined; readonly output: string },
): WorkChange => {
  const answer = parseObject(output)
  const goal = asObject(answer?.["goal"])
  const objective = textAt(goal, "objective") ?? textAt(input, "objective")
  if (answer !== undefined && answer["goal"] === null) return { tag: "changed", work: { items: work.items } }
  if (objective === undefined) return { tag: "unknown" }
  const status = textAt(goal, "status") ?? textAt(input, "status") ?? "active"
  return { tag: "changed", work: { ...work, goal: { objective: objective.slice(0, 1000), status } } }
}
