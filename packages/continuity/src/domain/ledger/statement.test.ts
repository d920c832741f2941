import { expect, test } from "vitest"

import { hearText, type Heard } from "./statement.ts"

const kindOf = (text: string, speaker: "user" | "agent" = "user"): string | undefined => {
  const [heard]: readonly Heard[] = hearText(text, speaker)
  return heard === undefined
    ? undefined
    : heard.tag === "stated"
      ? heard.kind
      : `withdrawn ${heard.kind ?? ""}`.trim()
}

test.each([
  "Never touch the billing tables.",
  "Please don't push to main.",
  "Do not add new dependencies.",
  "Always run the linter before you commit.",
  "Only edit files under src/.",
  "No new dependencies.",
  "Use tabs, not spaces.",
  "Keep the public API as it is.",
  "Leave the migrations alone.",
  "You must ask before you delete anything.",
  "We never deploy on Fridays.",
  "Fix the parser, but don't change its public types.",
  "Make sure the old exports stay.",
  "From now on write the comments in English.",
  "I don't want any new files in the root.",
  "I want you to never use force push.",
  "The release branch is rel-7.",
  "Constraint: at most 200 lines a file.",
  "Rule: every commit has a test.",
  "The API has to stay compatible with v2.",
  "Can you make sure that nothing in dist changes?",
  "Stay within the packages/web folder.",
  "Limit the retries to 3.",
  "Make commits small.",
  "Write everything in British English.",
  "I'd rather you didn't use lodash.",
  "You should ask me before deleting anything.",
  "Check with me before you merge.",
  "Could you please not touch the config?",
  "The deadline is Friday.",
  "Our target branch is develop.",
])("a constraint of the user: %s", (sentence) => {
  expect(kindOf(sentence)).toBe("constraint")
})

test.each([
  "Fix the login page.",
  "It never worked before.",
  "I don't know why it fails.",
  "Why don't you look at the log?",
  "Don't worry about that.",
  "The build is broken.",
  "The tests always fail on CI.",
  "Should we never cache this?",
  "You don't need to explain it.",
  "Add a test for the parser.",
  "Make the button blue.",
  "Write the parser first.",
  "I asked him before the meeting.",
  "The page is slow.",
  "The answer is yes.",
  "Thanks, that looks good.",
  "```\nnever do this\n```",
  "> never quote me",
])("no constraint: %s", (sentence) => {
  expect(kindOf(sentence)).toBeUndefined()
})

test("an agent that says never has not been told so", () => {
  expect(kindOf("Never touch the billing tables.", "agent")).toBeUndefined()
})

test.each([
  ["Decision: keep SQLite", "decision"],
  ["**Decision**: keep SQLite", "decision"],
  ["- Decision: keep SQLite", "decision"],
  ["We decided to keep SQLite.", "decision"],
  ["I've decided to name the module quokka.", "decision"],
  ["I chose the streaming parser because of memory.", "decision"],
  ["Going with the second design.", "decision"],
  ["I'm going with option 2.", "decision"],
  ["We'll use pnpm workspaces.", "decision"],
  ["Blocker: the staging database is down", "blocker"],
  ["I am blocked by the missing token.", "blocker"],
  ["Next: write the printer", "next-action"],
  ["Next step: write the printer", "next-action"],
  ["Stage: bug-fix", "stage"],
  ["Goal: ship it", "objective"],
  ["Decision (cancelled): keep SQLite", "withdrawn decision"],
  ["Cancelled decision: keep SQLite", "withdrawn decision"],
  ["Blocker (resolved): the staging database is down", "withdrawn blocker"],
  ["We are unblocked.", "withdrawn blocker"],
])("%s is a %s, whoever says it", (sentence, kind) => {
  expect(kindOf(sentence, "agent")).toBe(kind)
  expect(kindOf(sentence, "user")).toBe(kind)
})

test.each([
  "We have not decided yet.",
  "We should decide whether to keep it.",
  "I will decide later.",
  "If we decided to keep it, it would break.",
])("nothing is decided by: %s", (sentence) => {
  expect(kindOf(sentence, "agent")).toBeUndefined()
})

test.each([
  "Forget about the dark mode.",
  "Scrap the cache.",
  "Actually, cancel the second item.",
  "Never mind the printer.",
  "The rule about tabs no longer applies.",
  "The decision on Redis is obsolete.",
  "Drop the idea of a second queue.",
])("the user takes back: %s", (sentence) => {
  expect(kindOf(sentence)).toBe("withdrawn")
})

test("drop can also be an order", () => {
  expect(kindOf("Drop the unused index.")).toBeUndefined()
})
