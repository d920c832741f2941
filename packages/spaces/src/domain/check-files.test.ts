import { expect, test } from "vitest"

import { findCheckFiles, type FileTexts } from "./check-files.ts"

const PACKAGE = (scripts: object): string => JSON.stringify({ scripts })

/** `changes`: new files have a `+` in front. */
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
  ["a script the agent made", "node prove.mjs", ["+prove.mjs"], ["prove.mjs"]],
  [
    "a script after another command",
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
  ["tests a pattern names", "node --test 'lib/*.spec.js'", ["lib/a.spec.js", "lib/a.js"], ["lib/a.spec.js"]],
  ["tests a runner finds", "cargo test", ["tests/it.rs", "src/lib.rs"], ["tests/it.rs"]],
  [
    "settings of a runner",
    "npx jest",
    ["jest.config.js", "babel.config.js", "src/x.js"],
    ["jest.config.js", "babel.config.js"],
  ],
  ["not a file it looks at", "grep -q right a.txt && test -e b.txt", ["a.txt", "+b.txt"], []],
  ["no tests, if none are run", "npx oxlint src", ["src/a.test.ts"], []],
])("names %s", (_what, command, changes, expected) => {
  expect(named(command, changes)).toEqual(expected)
})

test("started scripts of a package, and what these start", () => {
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

test("shell scripts and makefiles are read too", () => {
  const files = {
    "run/all.sh": same("set -e\nsh run/one.sh src/a.js\n"),
    Makefile: same("proof:\n\tsh run/all.sh\n"),
  }
  expect(named("sh run/all.sh", ["run/one.sh", "src/a.js"], files)).toEqual(["run/one.sh"])
  expect(named("make proof", ["Makefile", "run/one.sh"], files)).toEqual(["Makefile", "run/one.sh"])
})

test("scripts that start each other cause no endless search", () => {
  const files = { "package.json": same(PACKAGE({ test: "npm run a", a: "npm run test" })) }
  expect(named("npm test", ["a.js"], files)).toEqual([])
})
