import { expect, test } from "vitest"

import { fillTemplate, readCommandCall } from "./command-template.ts"

test.each([
  ["/review", { name: "review", arguments: "" }],
  ["/git:commit fix it\nnow ", { name: "git:commit", arguments: "fix it\nnow" }],
  [" /etc is a folder", undefined],
  ["/etc/passwd", undefined],
  ["/", undefined],
  ["/../x", undefined],
])("%j", (text, call) => {
  expect(readCommandCall(text)).toEqual(call)
})

const text = (words: string) => ({ kind: "text", text: words })

test.each([
  ["Review $1 against $2.", 'a.ts "b c"', [text("Review a.ts against b c.")]],
  ["All: $ARGUMENTS", "x  y", [text("All: x  y")]],
  ["Nothing for $3", "a", [text("Nothing for ")]],
  ["Costs $10", "a", [text("Costs $10"), text("\n\nArguments: a")]],
  ["No place", "", [text("No place")]],
  ["No place", "for this", [text("No place"), text("\n\nArguments: for this")]],
  ["A $1 that says $ARGUMENTS", "$2", [text("A $2 that says $2")]],
])("%j with %j", (body, given, pieces) => {
  expect(fillTemplate(body, given)).toEqual(pieces)
})

test("an argument never becomes a part of a command", () => {
  expect(fillTemplate("Diff: !`git diff $1` and !`echo $ARGUMENTS`", 'main;rm "it\'s !`id`"')).toEqual([
    text("Diff: "),
    { kind: "shell", command: "git diff 'main;rm'" },
    text(" and "),
    { kind: "shell", command: "echo 'main;rm' 'it'\\''s !`id`'" },
  ])
})
