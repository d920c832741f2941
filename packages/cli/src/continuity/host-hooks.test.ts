import * as fc from "fast-check"
import { expect, test } from "vitest"

import { addHooks, removeHooks } from "./host-hooks.ts"

const COMMAND = "meridian brief --host claude"
const PROGRAM = "meridian"

const textOf = (edit: ReturnType<typeof addHooks>): string => {
  if (edit.kind !== "write") throw new Error(`expected a change, got ${edit.kind}`)
  return edit.text
}

test("without a file the hook is the whole document", () => {
  expect(JSON.parse(textOf(addHooks(undefined, "claude", PROGRAM)))).toEqual({
    hooks: {
      SessionStart: [{ matcher: "compact", hooks: [{ type: "command", command: COMMAND, timeout: 10 }] }],
      PostCompact: [{ hooks: [{ type: "command", command: COMMAND, async: true, timeout: 10 }] }],
    },
  })
  expect(JSON.parse(textOf(addHooks(undefined, "codex", PROGRAM)))).toEqual({
    hooks: {
      SessionStart: [
        {
          matcher: "compact",
          hooks: [{ type: "command", command: "meridian brief --host codex", timeout: 10 }],
        },
      ],
    },
  })
})

test("an empty file counts as no file", () => {
  expect(addHooks(" \n", "claude", PROGRAM)).toEqual(addHooks(undefined, "claude", PROGRAM))
})

test("comments, order, spacing and odd numbers of other entries stay as they are", () => {
  const before = `{
    // ours since 2024
    "model": "opus",   "cost": 1.50,
    "hooks": {
        "Stop": [ { "hooks": [] } ],
        "SessionStart": [
            { "matcher": "startup", "hooks": [ { "type": "command", "command": "echo hi" } ] } // last
        ]
    }, /* end */
    "zeta": 12345678901234567890
}
`
  const after = textOf(addHooks(before, "claude", PROGRAM))
  for (const piece of [
    "// ours since 2024",
    `"model": "opus",   "cost": 1.50,`,
    `"Stop": [ { "hooks": [] } ]`,
    `{ "matcher": "startup", "hooks": [ { "type": "command", "command": "echo hi" } ] }`,
    "/* end */",
    `"zeta": 12345678901234567890`,
    `"matcher": "compact"`,
  ])
    expect(after).toContain(piece)
  expect(removeHooks(after, "claude")).toEqual({ kind: "write", action: "removed", text: before })
})

test("installing twice changes nothing", () => {
  const once = textOf(addHooks(undefined, "claude", PROGRAM))
  expect(addHooks(once, "claude", PROGRAM)).toEqual({ kind: "keep", action: "unchanged" })
})

test("a new way to start the same program replaces the old one", () => {
  const old = textOf(addHooks(undefined, "claude", `"/old/node" "/old/meridian.js"`))
  const edit = addHooks(old, "claude", PROGRAM)
  expect(edit).toMatchObject({ kind: "write", action: "updated" })
  expect(textOf(edit)).toBe(textOf(addHooks(undefined, "claude", PROGRAM)))
})

test("an older version's hooks get what they lack, and a flag that a person added stays", () => {
  const old = JSON.stringify({
    hooks: {
      SessionStart: [
        { matcher: "compact", hooks: [{ type: "command", command: `${COMMAND} --max-tokens 600` }] },
      ],
    },
  })
  const updated = textOf(addHooks(old, "claude", PROGRAM))
  expect(updated.match(/meridian brief --host claude --max-tokens 600/g)).toHaveLength(2)
  expect(addHooks(updated, "claude", PROGRAM)).toEqual({ kind: "keep", action: "unchanged" })
})

test("removing takes out only ours, even from a group that holds more", () => {
  const before = JSON.stringify({
    hooks: {
      SessionStart: [
        {
          matcher: "compact",
          hooks: [
            { type: "command", command: COMMAND },
            { type: "command", command: "date" },
          ],
        },
      ],
    },
  })
  const edit = removeHooks(before, "claude")
  expect(JSON.parse(textOf(edit))).toEqual({
    hooks: { SessionStart: [{ matcher: "compact", hooks: [{ type: "command", command: "date" }] }] },
  })
})

test("the hook of the other agent is not ours to remove", () => {
  const codex = textOf(addHooks(undefined, "codex", PROGRAM))
  expect(removeHooks(codex, "claude")).toEqual({ kind: "keep", action: "absent" })
})

test("removing the only content removes the file", () => {
  const alone = textOf(addHooks(undefined, "claude", PROGRAM))
  expect(removeHooks(alone, "claude")).toEqual({ kind: "delete", action: "removed" })
})

test.each([
  ["{ not json", "not valid JSON near line 1"],
  [`{"a": 1,}`, "not valid JSON near line 1"],
  ["[]", "not a JSON object"],
  [`{"hooks": []}`, `"hooks" is not an object`],
  [`{"hooks": {"SessionStart": {}}}`, `"hooks.SessionStart" is not a list`],
])("%s is refused and not written over", (text, problem) => {
  expect(addHooks(text, "claude", PROGRAM)).toEqual({ kind: "invalid", problem })
  expect(removeHooks(text, "claude")).toEqual({ kind: "invalid", problem })
})

test.each([
  `{"a":1}`,
  `{ "a": 1 }\n`,
  `{\n\t"a": [1, 2],\n\t"hooks": {"Stop": []}\n}\n`,
  `{\r\n    "hooks": {\r\n        "SessionStart": [ { "hooks": [] } ]\r\n    }\r\n}\r\n`,
  `{\n  // only this\n  "a": 1 // and that\n}`,
  `{\n  "hooks": { "SessionStart": [{ "matcher": "startup", "hooks": [] }] }\n}`,
])("%s comes back byte for byte", (before) => {
  const installed = textOf(addHooks(before, "claude", PROGRAM))
  expect(installed).not.toBe(before)
  expect(removeHooks(installed, "claude")).toEqual({ kind: "write", action: "removed", text: before })
})

test("installing and removing restores any JSON object byte for byte", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()).filter((object) => !("hooks" in object)),
      fc.constantFrom(undefined, 2, 4, "\t"),
      (object, indent) => {
        const before = JSON.stringify(object, undefined, indent)
        const installed = textOf(addHooks(before, "codex", PROGRAM))
        const edit = removeHooks(installed, "codex")
        expect(edit.kind === "delete" ? "{}" : textOf(edit)).toBe(before)
      },
    ),
    { numRuns: 200 },
  )
})
