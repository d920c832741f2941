import type { Behaviour } from "../behaviours.ts"

const promise = <const Says extends string>(says: Says) => ({ seed: "issue 15", says }) as const

/** What issue 15 adds around prompts and sessions: mentions, references, synthetic messages, children. */
export const CHILDREN_BEHAVIOURS = {
  "fork.at": promise(
    "a fork at a message has the history up to that message and with it, and nothing behind",
  ),
} as const satisfies Record<string, Behaviour>
