import type { Behaviour } from "../behaviours.ts"

const promise = (says: string): Behaviour => ({ seed: "issue 17", says })

/** Work that outlives limits, crashes and its budget: the engine's half. */
const ENGINE = {
  "question.tool": promise(
    "a call may ask a person: the question is listed with its choices, the session waits for an answer, and the answer is what the call gets",
  ),
  "question.survives": promise(
    "a question outlives its process: answered after a restart, its call goes on with the answer, once",
  ),
  "question.bad-answer": promise(
    "an answer that is no choice is refused where words are not taken, and so is one to a question that is not open; nothing is stored",
  ),
  "question.interrupt": promise("an interrupt ends the waiting; the question is listed no more"),
  "park.beyond-a-week": promise(
    "a limit that ends more than seven days from now is a question: go on now, wait until then, or stop; a wake goes on as well",
  ),
  "recovery.continue": promise(
    "with recovery continue, work cut off by the end of its process goes on by itself: the same activity, the open call reported as interrupted and not repeated",
  ),
  "recovery.settle": promise(
    "by default such work is settled, the session shows as interrupted, and no request is made before somebody runs it",
  ),
  "recovery.levels": promise(
    "what a session was created with goes before its agent, and that before the engine",
  ),
  "recovery.queue": promise(
    "inputs queued behind such work wait until it is done, and then come in their order",
  ),
  "recovery.budget": promise(
    "after three attempts without progress a question asks whether to go on; any progress gives three new ones",
  ),
  "recovery.person": promise("what a person interrupted is not gone on with"),
  "recovery.close": promise("work that was cut off because its engine closed goes on in the next, too"),
  "recovery.once": promise(
    "over several processes the work goes on once, and a run in the one that works shares it",
  ),
} as const satisfies Record<string, Behaviour>

export const DAYS_BEHAVIOURS = { ...ENGINE } as const
