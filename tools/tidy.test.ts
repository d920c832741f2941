import { globSync, readFileSync } from "node:fs"

import { expect, test } from "vitest"

/** Words with a better alternative. The glossary explains them; this test enforces it. */
const BANNED: readonly {
  readonly word: RegExp
  readonly within: string
  /** Where the word belongs to a foreign format. */
  readonly except?: string
  readonly say: string
}[] = [
  {
    word: /\bsession_?id\b/i,
    within: "packages/spaces/",
    except: "packages/spaces/src/harness/",
    say: "chatId, or harnessSessionId",
  },
  { word: /\b(async|await)\b/, within: "packages/engine/src/domain/", say: "it in store or runner" },
  { word: /\b(async|await)\b/, within: "packages/spaces/src/domain/", say: "it in store or operation" },
  { word: /\b(FIXME|XXX)\b/, within: "", say: "what is wrong, after fixing it" },
  { word: /\b(test|describe)\.only\(/, within: "", say: "-t on the command line" },
]

/** A file with one of these names has not really been named yet. */
const NAMELESS = /(^|[-/])(utils?|helpers?|common|managers?|misc)([-./]|$)/

const complaints = (file: string, text: string): readonly string[] => {
  const nameless = NAMELESS.test(file) ? [`${file}: name it after what it does`] : []
  const lines = text.split("\n")
  const said = BANNED.filter(
    ({ within, except }) => file.startsWith(within) && (except === undefined || !file.startsWith(except)),
  ).flatMap(({ word, say }) => {
    const line = lines.findIndex((content) => word.test(content))
    return line === -1 ? [] : [`${file}:${line + 1}: ${word.source} is banned, say ${say}`]
  })
  return [...nameless, ...said]
}

test("the code speaks the glossary", () => {
  const files = globSync("{packages/*/src,test}/**/*.ts")
  expect(files.length).toBeGreaterThan(0)
  expect(files.flatMap((file) => complaints(file, readFileSync(file, "utf8")))).toEqual([])
})

test.each([
  ["packages/spaces/src/a.ts", "const x = 1\nconst sessionId = 2", "packages/spaces/src/a.ts:2: "],
  ["packages/engine/src/utils.ts", "", "packages/engine/src/utils.ts: "],
  ["packages/engine/src/store/lock-manager.ts", "", "packages/engine/src/store/lock-manager.ts: "],
])("a banned word is found in %s", (file, text, start) => {
  expect(complaints(file, text)).toEqual([expect.stringContaining(start)])
})
