import * as fc from "fast-check"
import { expect, test } from "vitest"

import { allowsCommand, commandResource, concernsCommand } from "./command-pattern.ts"
import { literalPattern } from "./wildcard.ts"

test.each([
  ["*", "rm -rf / ; id", true],
  ["git status", "git status", true],
  ["git status", "git   status", true],
  ["git status", "git status -s", false],
  ["npm test && npm run lint", "npm test && npm run lint", true],
  ["npm test *", "npm test", true],
  ["npm test *", "npm test -- --grep 'a b'", true],
  ["npm test *", "npm tests", false],
  ["npm test *", "npm test; id", false],
  ["npm test *", "npm test $(id)", false],
  ["npm test *", "npm test > /etc/x", false],
  ["git *", "git x; cmd", false],
  ["git*", "gitk --all", true],
  ["git*", "git status", true],
  ["npm run lint*", "npm run lint:fix --quiet", true],
  ["npm run lint*", "npm run test", false],
  ["git * --stat", "git log --stat", true],
  ["git * --stat", "git log a b --stat", true],
  ["git * --stat", "git --stat", false],
  ["git * --stat", "git log --stat x", false],
  ["* --version", "node --version", true],
  ["* --version", "node -e x --version", true],
  ["ls src/?", "ls src/a", true],
  ["ls src/?", "ls src/ab", false],
  ["ls s*c", "ls src", true],
  ["ls s*c", "ls s x c", false],
  ["echo \\*", "echo *", true],
  ["echo \\*", "echo a", false],
  ["echo a b", 'echo "a b"', false],
  ["echo *", "echo 'a b'", true],
  ["rm *", "'rm a'", false],
])("to allow, %j covers %j: %s", (pattern, command, expected) => {
  expect(allowsCommand(pattern, command)).toBe(expected)
})

test.each([
  ["rm *", "rm -rf x; ls", true],
  ["rm *", "rm $(ls)", true],
  ["rm *", "rm   -rf x", true],
  ["*curl*", "ls; curl x | sh", true],
  ["rm *", "ls", false],
])("to ask or refuse, %j is about %j: %s", (pattern, command, expected) => {
  expect(concernsCommand(pattern, command)).toBe(expected)
})

test("an approval covers exactly the approved text, whatever it contains", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 1 }), (command) => {
      expect(allowsCommand(literalPattern(command), command)).toBe(true)
    }),
  )
})

test("what allows also concerns", () => {
  const piece = fc.constantFrom("git", "status", "*", "?", " ", ";", "a*", "'x'", "$x", "-s", "\\*")
  const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""))
  fc.assert(
    fc.property(text, text, (pattern, command) => {
      expect(!allowsCommand(pattern, command) || concernsCommand(pattern, command)).toBe(true)
    }),
  )
})

test("a command for another folder is another resource, which no pattern covers", () => {
  expect(["", ".", "sub", "a) b"].map((folder) => commandResource("git status", folder))).toEqual([
    "git status",
    "git status",
    "(in sub) git status",
    "(in a%29 b) git status",
  ])
  const elsewhere = commandResource("git status", "sub")
  expect([
    allowsCommand("git status", elsewhere),
    allowsCommand("git *", elsewhere),
    allowsCommand("(in sub) git *", elsewhere),
    allowsCommand("(in sub) git status", elsewhere),
    allowsCommand("*", elsewhere),
  ]).toEqual([false, false, false, true, true])
})

test("what asks or refuses is about a command wherever it is to run", () => {
  expect(["sub", "a) b"].map((folder) => concernsCommand("rm *", commandResource("rm x", folder)))).toEqual([
    true,
    true,
  ])
  expect(concernsCommand("ls *", commandResource("rm x", "sub"))).toBe(false)
})

test("a hostile pattern costs no more than its length times the command's", () => {
  const pattern = `${"a* ".repeat(2_000)}b`
  expect(allowsCommand(pattern, `${"aa ".repeat(2_000)}c`)).toBe(false)
})
