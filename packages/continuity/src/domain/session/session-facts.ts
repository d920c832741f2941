/** A session without a workflow as facts. The literal phrases come from seed 001. */

import { type FactList, startFactList } from "../fact-list.ts"
import { DEFAULT_SOURCE, type Fact } from "../fact.ts"
import type { SessionState } from "./session-state.ts"

export const SESSION_SOURCE = "SESSION.md"

export const sessionFacts = (session: SessionState): readonly Fact[] => {
  const { add, facts } = startFactList()
  const { focus, openWork, blockers } = session
  const work = openWork[0]
  const objective = session.objective ?? (work === undefined ? undefined : capitalised(work))

  if (objective !== undefined) add("objective", SESSION_SOURCE, objective)
  else if (focus !== undefined) add("objective", SESSION_SOURCE, `Continue work on: ${focus}.`)
  else add("objective", DEFAULT_SOURCE, "Resume the session from its latest recorded state.")

  if (work !== undefined) add("step", SESSION_SOURCE, `Current open work: ${work}`)
  else add("step", DEFAULT_SOURCE, "Review the latest state of the session before going on.")

  const blocker = blockers[0]
  if (blocker !== undefined) add("status", SESSION_SOURCE, `At risk — ${withoutLabel(blocker)}`)
  else if (focus !== undefined) add("status", SESSION_SOURCE, `Active — working on ${focus}.`)
  else add("status", DEFAULT_SOURCE, "Active — no focus is recorded.")

  add("completed", SESSION_SOURCE, session.completed)
  add("remaining", SESSION_SOURCE, openWork)
  add(
    "remaining",
    SESSION_SOURCE,
    session.pendingTests.map((test) => `Pending tests: ${test}`),
  )
  add(
    "remaining",
    SESSION_SOURCE,
    session.openQuestions.map((question) => `Open question: ${question}`),
  )
  add("decision", SESSION_SOURCE, session.decisions)
  add("blocker", SESSION_SOURCE, blockers)

  const action = session.nextActions[0] ?? work
  if (action !== undefined) add("next-action", SESSION_SOURCE, action)
  else
    add(
      "next-action",
      DEFAULT_SOURCE,
      "Read SESSION.md and the latest messages, then confirm the next action.",
    )
  add("remaining", SESSION_SOURCE, session.nextActions.slice(1))
  add("open-question", SESSION_SOURCE, session.openQuestions)
  addCurrentWork({ add, facts }, session)
  return facts
}

/** Three lines for the pinned part, with or without a workflow: the focus, the open work, the pending tests. */
export const addCurrentWork = ({ add }: FactList, { focus, openWork, pendingTests }: SessionState): void => {
  if (focus !== undefined) add("focus", SESSION_SOURCE, `Focus: ${focus}`)
  if (openWork.length > 0) add("open-work", SESSION_SOURCE, `Open work: ${openWork.join("; ")}`)
  if (pendingTests.length > 0)
    add("pending-tests", SESSION_SOURCE, `Pending tests: ${pendingTests.join("; ")}`)
}

const capitalised = (text: string): string => {
  const [first = "", ...rest] = text
  return first.toUpperCase() + rest.join("")
}

const withoutLabel = (blocker: string): string => blocker.replace(/^blockers?(?: ?\/ ?risks)?: /i, "")
