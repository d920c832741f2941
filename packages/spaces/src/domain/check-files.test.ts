import { expect, test } from "vitest"

import { findCheckFiles, type FileTexts } from "./check-files.ts"

const PACKAGE = (scripts: object): string => JSON.stringify({ scripts })

/** `changes`: with a `+` before those that are new. */
const named = (
  command: string,
  changes: readonly string[],
  files: Readonly<Record<string, FileTexts>> = {},
  folder = "",
): readonly string[] => {
  const texts = new Map<string, FileTexts>()
  for (;;) {
    const found = findCheckFiles({
      commands: [command],
      folder,
      changes: changes.map((path) => ({ path: path.replace(/^\+/, ""), isAdded: path.startsWith("+") })),
      texts,
    })
    if (found.wants.length === 0) return found.named
    for (const path of found.wants) texts.set(path, files[path] ?? { before: undefined, after: undefined })
  }
}
const same = (text: string): FileTexts => ({ before: text, after: text })

test.each([
  ["the script it starts", "./check.sh --all", ["check.sh", "src/a.ts"], ["check.sh"]],
  ["a script that was made by the agent", "node prove.mjs", ["+prove.mjs"], ["prove.mjs"]],
  [
    "a script behind another command",
    "cd src && python3 -u prove.py",
    ["src/prove.py", "src/a.py"],
    ["src/prove.py"],
  ],
  ["a test it names", "npx vitest run test/a.test.ts", ["test/a.test.ts", "src/a.ts"], ["test/a.test.ts"]],
  [
    "tests in a folder it names",
    "pytest tests/unit",
    ["tests/unit/test_a.py", "+tests/unit/test_b.py"],
    ["tests/unit/test_a.py"],
  ],
  [
    "tests that a pattern names",
    "node --test 'lib/*.spec.js'",
    ["lib/a.spec.js", "lib/a.js"],
    ["lib/a.spec.js"],
  ],
  ["tests that a runner finds", "cargo test", ["tests/it.rs", "src/lib.rs"], ["tests/it.rs"]],
  [
    "settings of a runner",
    "npx jest",
    ["jest.config.js", "babel.config.js", "src/x.js"],
    ["jest.config.js", "babel.config.js"],
  ],
  ["not what it looks at", "grep -q right a.txt && test -e b.txt", ["a.txt", "+b.txt"], []],
  ["not tests, where none are run", "npx oxlint src", ["src/a.test.ts"], []],
])("names %s", (_what, command, changes, expected) => {
  expect(named(command, changes)).toEqual(expected)
})

test("scripts of a package, as far as they are started, and what these start", () => {
  const before = PACKAGE({ test: "npm run unit", unit: "node test.js", lint: "a" })
  const files = {
    "package.json": { before, after: PACKAGE({ test: "npm run unit", unit: "node test.js", lint: "b" }) },
  }
  expect(named("npm test", ["package.json", "test.js", "a.js"], files)).toEqual(["test.js"])
  expect(named("npm run -s lint", ["package.json"], files)).toEqual(["package.json"])
  const eased = {
    "package.json": { before, after: PACKAGE({ pretest: "true", test: "npm run unit", unit: "true" }) },
  }
  expect(named("npm t", ["package.json", "test.js"], eased)).toEqual(["package.json", "test.js"])
  expect(named("npm t", ["app/package.json"], { "app/package.json": eased["package.json"] }, "app")).toEqual([
    "app/package.json",
  ])
})

test("scripts of a shell and make are read on", () => {
  const files = {
    "run/all.sh": same("set -e\nsh run/one.sh src/a.js\n"),
    Makefile: same("proof:\n\tsh run/all.sh\n"),
  }
  expect(named("sh run/all.sh", ["run/one.sh", "src/a.js"], files)).toEqual(["run/one.sh"])
  expect(named("make proof", ["Makefile", "run/one.sh"], files)).toEqual(["Makefile", "run/one.sh"])
})

test("scripts that start each other come to an end", () => {
  const files = { "package.json": same(PACKAGE({ test: "npm run a", a: "npm run test" })) }
  expect(named("npm test", ["a.js"], files)).toEqual([])
})
