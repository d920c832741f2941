import type { TodoItem } from "@meridian/protocol"

/** The agent's todo list, beside its timeline. */
export const TodoList = ({ items }: { readonly items: readonly TodoItem[] }) => {
  if (items.length === 0) return null
  const done = items.filter(({ status }) => status === "completed").length
  return (
    <aside class="todo" aria-label="Plan">
      <h2>
        Plan <span class="faint">{`${done} of ${items.length}`}</span>
      </h2>
      <ol>
        {items.slice(0, MOST_ITEMS).map(({ content, status }, index) => (
          <li key={index} class={`is-${status}`}>
            <span class="tick" role="img" aria-label={WORD[status]}>
              {SIGN[status]}
            </span>
            <span>{content}</span>
          </li>
        ))}
      </ol>
      {items.length > MOST_ITEMS ? <p class="faint">{items.length - MOST_ITEMS} more</p> : null}
    </aside>
  )
}

const MOST_ITEMS = 100

const SIGN = {
  pending: "○",
  in_progress: "◐",
  completed: "●",
  cancelled: "✕",
} as const satisfies Record<TodoItem["status"], string>

const WORD = {
  pending: "to do",
  in_progress: "in progress",
  completed: "done",
  cancelled: "cancelled",
} as const satisfies Record<TodoItem["status"], string>
