import * as fc from "fast-check"
import { expect, test } from "vitest"

import { toolPaths } from "./tool-paths.ts"
import {
  projectPath,
  renderWorkingSet,
  touchPaths,
  withNearPaths,
  WORKING_SET_LIMITS,
} from "./working-set.ts"

const place = { root: "/repo", directory: "/repo/packages/web" }

test.each([
  ["src/a.ts", "packages/web/src/a.ts"],
  ["./src//a.ts", "packages/web/src/a.ts"],
  ["../api/b.ts", "packages/api/b.ts"],
  ["/repo/README.md", "README.md"],
  ["/repo", undefined],
  ["/repository/a", undefined],
  ["../../../etc/passwd", undefined],
  ["https://example.com/a", undefined],
  ["", undefined],
])("%s is %s in the project", (path, expected) => {
  expect(projectPath(path, place)).toBe(expected)
})

test("a path is always one clean line inside the project", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 400 }), (path) => {
      const found = projectPath(path, { root: "/repo", directory: "/repo" })
      if (found === undefined) return
      // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
      expect(found).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/)
      expect(found.length).toBeLessThanOrEqual(WORKING_SET_LIMITS.pathLength)
    }),
    { numRuns: 1000 },
  )
})

test("touching again moves a path to the end, and the oldest leave first", () => {
  const root = { root: "/r", directory: "/r" }
  expect(touchPaths(touchPaths([], ["a", "b"], root), ["a"], root)).toEqual(["b", "a"])
  let set: readonly string[] = []
  for (let index = 0; index < WORKING_SET_LIMITS.kept + 5; index += 1)
    set = touchPaths(set, [`f${index}`], root)
  expect(set).toHaveLength(WORKING_SET_LIMITS.kept)
  expect(set[0]).toBe("f5")
})

test("the block is at most 23 lines for any set", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ unit: fc.constantFrom("a", "b", "c", "d"), minLength: 1 }), {
        maxLength: 60,
      }),
      (set) => {
        const lines = renderWorkingSet(set).split("\n")
        const shown = lines.filter((line) => line.startsWith("  - "))
        expect(shown).toEqual(shown.toSorted())
        expect(shown).toHaveLength(Math.min(set.length, WORKING_SET_LIMITS.shown))
        expect(lines.at(-1)?.startsWith("  ... and ") ?? false).toBe(set.length > WORKING_SET_LIMITS.shown)
      },
    ),
  )
})

test("an input of another shape names no path", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("read", "glob", "grep", "bash", "apply_patch", "lsp", "task"),
      fc.anything(),
      (tool, input) => {
        expect(toolPaths({ tool, input }).every((path) => typeof path === "string")).toBe(true)
      },
    ),
  )
})

test("paths below the folder the work started in stand in the list both ways", () => {
  expect(withNearPaths(["packages/web/src/a.ts", "README.md"], place)).toEqual([
    "packages/web/src/a.ts",
    "README.md",
    "src/a.ts",
  ])
  expect(withNearPaths(["src/a.ts"], { root: "/repo", directory: "/repo" })).toEqual(["src/a.ts"])
})
