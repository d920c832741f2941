import { literalPattern, matchesWildcard } from "@meridian/protocol"
import { constantFrom, array, assert, property, string } from "fast-check"
import { expect, test } from "vitest"

import { decidePermission, isDeniedEverywhere } from "./permission.ts"

test.each([
  ["*", "anything at all", true],
  ["git status *", "git status", true],
  ["git status *", "git status -s", true],
  ["git status *", "git statusx", false],
  ["src/*.ts", "src/a/b.ts", true],
  ["a?c", "abc", true],
  ["a?c", "ac", false],
  ["echo \\*", "echo *", true],
  ["echo \\*", "echo x", false],
  ["", "", true],
])("%j and %j: %s", (pattern, text, matches) => {
  expect(matchesWildcard(pattern, text)).toBe(matches)
})

test("a literal pattern matches its own text and no other", () => {
  const text = array(constantFrom("*", "?", "\\", "a", " "), { maxLength: 8 }).map((parts) => parts.join(""))
  assert(
    property(text, text, (left, right) => {
      expect(matchesWildcard(literalPattern(left), left)).toBe(true)
      // A trailing " *" is literal too, so only the text itself matches.
      expect(matchesWildcard(literalPattern(left), right)).toBe(left === right)
    }),
  )
})

test("no pattern makes matching explode", () => {
  assert(
    property(
      string({ maxLength: 30 }),
      (pattern) => typeof matchesWildcard(`${pattern}*`.repeat(10), "a".repeat(2_000)) === "boolean",
    ),
  )
})

const allow = (action: string, resource: string) => ({ action, resource, effect: "allow" }) as const
const deny = (action: string, resource: string) => ({ action, resource, effect: "deny" }) as const

test("the last match wins, nothing matched is asked, one refused resource refuses all", () => {
  const rules = [allow("*", "*"), deny("edit", "vendor/*"), allow("edit", "vendor/ours/*")]
  expect(decidePermission({ action: "edit", resources: ["src/a"] }, rules, [])).toEqual({ kind: "allow" })
  expect(decidePermission({ action: "edit", resources: ["src/a", "vendor/b"] }, rules, [])).toMatchObject({
    kind: "deny",
  })
  expect(decidePermission({ action: "edit", resources: ["vendor/ours/c"] }, rules, [])).toEqual({
    kind: "allow",
  })
  expect(decidePermission({ action: "bash", resources: ["ls"] }, [], [])).toEqual({ kind: "ask" })
})

test("a saved approval answers what would be asked, and lifts no denial", () => {
  const approvals = [{ action: "bash", resource: "ls *" }]
  expect(decidePermission({ action: "bash", resources: ["ls -l"] }, [], approvals)).toEqual({ kind: "allow" })
  expect(
    decidePermission({ action: "bash", resources: ["ls -l"] }, [deny("bash", "*")], approvals),
  ).toMatchObject({ kind: "deny" })
})

test("a tool is hidden only when the last rule about it denies everything", () => {
  expect(isDeniedEverywhere([allow("*", "*"), deny("bash", "*")], "bash")).toBe(true)
  expect(isDeniedEverywhere([deny("bash", "*"), allow("bash", "ls")], "bash")).toBe(false)
  expect(isDeniedEverywhere([deny("bash", "rm *")], "bash")).toBe(false)
})

test.each([
  ["git status", "allow"],
  ["git x; id", "ask"],
  ["git $(id)", "ask"],
  ["git log | sh", "ask"],
  ["git log > a", "ask"],
  ["git ${x@P}", "ask"],
  ["git 'log;id'", "ask"],
  ["(in sub) git status", "ask"],
  ["git push", "deny"],
  ["git push; id", "deny"],
  ["(in sub) git push", "deny"],
] as const)("a rule that allows git * covers plain words: %s is %s", (command, kind) => {
  const rules = [allow("bash", "git *"), deny("bash", "git push*")]
  expect(decidePermission({ action: "bash", resources: [command] }, rules, []).kind).toBe(kind)
})

test("an approval for one folder is not one for another", () => {
  const approvals = [{ action: "bash", resource: "(in one) make" }]
  expect(
    ["make", "(in one) make", "(in two) make"].map(
      (command) => decidePermission({ action: "bash", resources: [command] }, [], approvals).kind,
    ),
  ).toEqual(["ask", "allow", "ask"])
})
