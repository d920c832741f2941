import { rmSync, symlinkSync, utimesSync } from "node:fs"
import { join } from "node:path"

import { afterEach, expect, test } from "vitest"

import { verifies } from "../../verifies.ts"
import { openPretend, type Pretend, type PretendOptions } from "./pretend-opencode.ts"

const opened: Pretend[] = []
const open = async (options: PretendOptions = {}): Promise<Pretend> => {
  const pretend = await openPretend(options)
  opened.push(pretend)
  return pretend
}
afterEach(() => {
  for (const pretend of opened.splice(0)) pretend.close()
})

const RULES = ".opencode/rules"
const warnings = ({ logs }: Pretend): readonly string[] =>
  logs.filter(({ level }) => level === "warn").map(({ message }) => message)

verifies("rules.block", async () => {
  const opencode = await open({
    files: { [`${RULES}/b.md`]: "Be brief.", [`${RULES}/deep/a.mdc`]: "Be bold.\n", "notes.md": "no rule" },
  })
  expect(await opencode.mainRequest()).toEqual([
    "# OpenCode Rules\n\nPlease follow the following rules:\n\n## b.md\n\nBe brief.\n\n---\n\n## deep/a.mdc\n\nBe bold.",
  ])
})

verifies(
  "rules.every-request",
  async () => {
    const opencode = await open({ files: { [`${RULES}/a.md`]: "Rule A." } })
    const [before] = await opencode.mainRequest()
    expect(await opencode.mainRequest()).toEqual([before])
    const { summary } = await opencode.compact()
    expect(summary).toEqual([])
    expect((await opencode.mainRequest()).at(-1)).toBe(before)
    expect((await opencode.mainRequest()).at(-1)).toBe(before)
  },
  "also right after a compaction",
)

verifies("rules.not-in-titles", async () => {
  const opencode = await open({ files: { [`${RULES}/a.md`]: "Rule A." } })
  expect(await opencode.titleRequest()).toEqual([])
  expect(await opencode.mainRequest()).toHaveLength(1)
})

test("a title agent with a prompt of the user's own is recognised by that prompt", async () => {
  const prompt = "Erfinde einen Titel."
  const opencode = await open({
    files: { [`${RULES}/a.md`]: "Rule A." },
    client: { app: { log: async () => ({}), agents: async () => ({ data: [{ name: "title", prompt }] }) } },
  })
  const output = { system: [prompt] }
  await opencode.hook("experimental.chat.system.transform", { sessionID: "ses_1", model: {} }, output)
  expect(output.system).toEqual([prompt])
})

verifies("rules.mid-turn", async () => {
  const opencode = await open({ files: { [`${RULES}/ts.md`]: "---\nglobs: ['src/**/*.ts']\n---\nStrict." } })
  await opencode.prompt("go")
  expect(await opencode.mainRequest()).toEqual([])
  await opencode.tool("read", { filePath: "src/deep/app.ts" })
  expect((await opencode.mainRequest())[0]).toContain("## ts.md\n\nStrict.")
})

verifies("rules.no-restart", async () => {
  const opencode = await open()
  expect(await opencode.mainRequest()).toEqual([])
  opencode.write(`${RULES}/new.md`, "First.")
  expect((await opencode.mainRequest())[0]).toContain("First.")
  opencode.write(`${RULES}/new.md`, "Second.")
  utimesSync(join(opencode.root, RULES, "new.md"), new Date(0), new Date(0))
  expect((await opencode.mainRequest())[0]).toContain("Second.")
  rmSync(join(opencode.root, RULES, "new.md"))
  expect(await opencode.mainRequest()).toEqual([])
})

verifies("rules.folders", async () => {
  const opencode = await open({
    directory: "packages/web",
    environment: { OPENCODE_CONFIG_DIR: "<folder>/project/custom" },
    files: {
      "custom/rules/global.md": "From OPENCODE_CONFIG_DIR.",
      "../config/opencode/rules/home.md": "From XDG_CONFIG_HOME.",
      ".opencode/rules/root.md": "From the root.",
      ".meridian/rules/meridian.md": "From .meridian.",
      "packages/web/.opencode/rules/near.md": "From the folder.",
      "packages/api/.opencode/rules/other.md": "Not ours.",
      ".opencode/rules/.hidden.md": "Hidden.",
    },
  })
  const [block = ""] = await opencode.mainRequest()
  const headings = [...block.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
  expect(headings).toEqual(["global.md", "home.md", "root.md", "meridian.md", "near.md"])
})

test("two rules of the same path are told apart, the same rule twice is said once", async () => {
  const opencode = await open({
    files: {
      ".opencode/rules/style.md": "Tabs.",
      ".meridian/rules/style.md": "Blanks.",
      ".opencode/rules/same.md": "Same.",
      ".meridian/rules/same.md": "Same.",
    },
  })
  const [block = ""] = await opencode.mainRequest()
  const headings = [...block.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
  expect(headings).toEqual(["same.md", "style.md (.opencode/rules)", "style.md (.meridian/rules)"])
})

verifies(
  "rules.malformed",
  async () => {
    const bomb = ["b", "c", "d", "e", "f", "g", "h"]
      .map((key, at) => `${key}: &${key} [${`*${"abcdefgh"[at]},`.repeat(9)}]`)
      .join("\n")
    const malformed: Readonly<Record<string, string>> = {
      "broken.md": "---\nglobs: [a, b\n---\nB",
      "text.md": "---\njust words\n---\nB",
      "list.md": "---\n- a\n- b\n---\nB",
      "unclosed.md": "---\nglobs: ['*.ts']\nB",
      "typo.md": "---\nglob: '*.ts'\n---\nB",
      "typo2.md": "---\nkeyowrds: [a]\n---\nB",
      "map.md": "---\nglobs: { a: b }\n---\nB",
      "nested.md": "---\nkeywords: [[a]]\n---\nB",
      "ci.md": "---\nci: maybe\n---\nB",
      "match.md": "---\nglobs: ['*.ts']\nmatch: some\n---\nB",
      "alias.md": "---\na: &a [x]\nglobs: *a\nkeywords: *a\n---\nB",
      "twice.md": "---\nglobs: ['a']\nglobs: ['b']\n---\nB",
      "bomb.md": `---\na: &a [x]\n${bomb}\nkeywords: *h\n---\nB`,
      "glob-bomb.md": `---\nglobs: ['${"{a,b}".repeat(40)}']\n---\nB`,
      "large.md": `---\n# ${"x".repeat(20_000)}\n---\nB`,
    }
    const files = Object.entries(malformed).map(([name, text]) => [`${RULES}/${name}`, text] as const)
    const opencode = await open({ files: Object.fromEntries(files) })
    await opencode.tool("read", { filePath: "a.ts" })
    await opencode.prompt("x a b")
    expect(await opencode.mainRequest()).toEqual([])
    await opencode.mainRequest()
    for (const name of Object.keys(malformed))
      expect(warnings(opencode).filter((line) => line.includes(`rule ${name} is inactive`))).toHaveLength(1)
  },
  "inactive, with one warning each",
)

test("a text that opens with a thematic break keeps its first paragraph", async () => {
  const opencode = await open({ files: { [`${RULES}/a.md`]: "---\n\nFirst.\n\n---\n\nSecond." } })
  expect((await opencode.mainRequest())[0]).toContain("First.\n\n---\n\nSecond.")
})

interface Case {
  readonly matter: string
  readonly holds: (opencode: Pretend) => Promise<unknown>
  readonly environment?: Readonly<Record<string, string>>
}

const CONDITIONS: Readonly<Record<string, Case>> = {
  "globs as a list": {
    matter: "globs: ['src/*.ts']",
    holds: (o) => o.tool("edit", { filePath: "src/a.ts" }),
  },
  "globs of Cursor": {
    matter: "globs: **/*.tsx,*.ts\nalwaysApply: false",
    holds: (o) => o.tool("read", { filePath: "x/a.ts" }),
  },
  "globs of Cursor in a list": {
    matter: "globs:\n  - *.py\n  - **/*.rb",
    holds: (o) => o.tool("read", { filePath: "lib/a.rb" }),
  },
  "paths of Claude": {
    matter: "paths:\n  - 'docs/**'",
    holds: (o) => o.tool("write", { filePath: "docs/a/b.md" }),
  },
  "applyTo of Copilot": {
    matter: "applyTo: '**/*.{js,jsx}'",
    holds: (o) => o.tool("read", { filePath: "a/b.jsx" }),
  },
  "a base name at any depth": {
    matter: "globs: ['package.json']",
    holds: (o) => o.tool("read", { filePath: "a/b/package.json" }),
  },
  "a dot folder": {
    matter: "globs: ['**/*.yml']",
    holds: (o) => o.tool("read", { filePath: ".github/workflows/ci.yml" }),
  },
  keywords: { matter: "keywords: [migrat]", holds: (o) => o.prompt("Please MIGRATE it") },
  "keywords with signs": { matter: "keywords: ['@scope', 'größe']", holds: (o) => o.prompt("die Größe") },
  tools: { matter: "tools: [mcp_my_server]", holds: async () => undefined },
  model: { matter: "model: [fake/small]", holds: async () => undefined },
  "model as a glob": { matter: "model: ['sm*']", holds: async () => undefined },
  agent: { matter: "agent: plan", holds: (o) => o.prompt("x", { agent: "plan" }) },
  command: {
    matter: "command: [/review]",
    holds: async (o) => {
      await o.hook("command.execute.before", { command: "review", sessionID: "ses_1", arguments: "" })
      await o.prompt("the expanded text of the command")
    },
  },
  project: { matter: "project: [rust]", holds: async (o) => o.write("Cargo.toml", "") },
  branch: {
    matter: "branch: ['feature/*']",
    holds: async (o) => o.write(".git/HEAD", "ref: refs/heads/feature/x\n"),
  },
  os: { matter: `os: [${process.platform}]`, holds: async () => undefined },
  ci: { matter: "ci: true", holds: async () => undefined, environment: { CI: "1" } },
  "any of two": {
    matter: "keywords: [never]\nglobs: ['*.ts']",
    holds: (o) => o.tool("read", { filePath: "a.ts" }),
  },
  "all of two": {
    matter: "keywords: [now]\nglobs: ['*.ts']\nmatch: all",
    holds: async (o) => {
      await o.tool("read", { filePath: "a.ts" })
      await o.prompt("now")
    },
  },
}

for (const [name, { matter, holds, environment }] of Object.entries(CONDITIONS))
  verifies(
    "rules.conditions",
    async () => {
      const opencode = await open({
        files: { [`${RULES}/r.md`]: `---\ndescription: x\n${matter}\n---\nHolds.` },
        ...(environment === undefined ? {} : { environment }),
      })
      await holds(opencode)
      expect((await opencode.mainRequest())[0]).toContain("## r.md\n\nHolds.")
      expect(warnings(opencode)).toEqual([])
    },
    name,
  )

test.each([
  ["globs: ['src/*.ts']", "src/deep/a.ts"],
  ["globs: ['*.ts', '!*.test.ts']", "a.test.ts"],
  ["globs: ['/a.ts']", "src/a.ts"],
  ["globs: ['src/**']", "source/a.ts"],
  ["globs: ['*.ts']\nkeywords: [x]\nmatch: all", "a.ts"],
  ["model: [big]", "a.ts"],
  ["agent: [plan]", "a.ts"],
  ["command: [review]", "a.ts"],
  ["project: [go]", "a.ts"],
  ["branch: [main]", "a.ts"],
  ["os: [plan9]", "a.ts"],
  ["tools: [webfetch]", "a.ts"],
  ["keywords: [igrate]", "a.ts"],
  ["description: only for whom it may concern\nalwaysApply: false", "a.ts"],
])("a rule with %s does not apply when %s was read", async (matter, path) => {
  const opencode = await open({ files: { [`${RULES}/r.md`]: `---\n${matter}\n---\nBody.` } })
  await opencode.tool("read", { filePath: path })
  await opencode.prompt("please migrate")
  expect(await opencode.mainRequest()).toEqual([])
})

test("rules that do not fit are named and logged, the others stay", async () => {
  const opencode = await open({
    options: { maxRuleTokens: 400 },
    files: {
      [`${RULES}/a.md`]: "Short.",
      [`${RULES}/b.md`]: "long ".repeat(2000),
      [`${RULES}/c.md`]: "Also short.",
    },
  })
  const [block = ""] = await opencode.mainRequest()
  expect(block).toContain("Short.")
  expect(block).toContain("Also short.")
  expect(block).toContain("Left out for lack of room, read them before you touch what they govern: b.md")
  expect(block.length).toBeLessThanOrEqual(1600)
  expect(warnings(opencode)).toHaveLength(1)
})

test("a link out of the project is not read, a link inside it is", async () => {
  const opencode = await open({
    files: { "shared/inside.md": "Inside.", "../outside.md": "SECRET", [`${RULES}/a.md`]: "A." },
  })
  symlinkSync("../../shared/inside.md", join(opencode.root, RULES, "in.md"))
  symlinkSync("../../../outside.md", join(opencode.root, RULES, "out.md"))
  symlinkSync(".", join(opencode.root, RULES, "loop"))
  const [block = ""] = await opencode.mainRequest()
  expect(block).toContain("## in.md\n\nInside.")
  expect(block).not.toContain("SECRET")
  expect(block.match(/^## /gm)).toHaveLength(2)
})

test("a rule cannot pass as the brief, and carries no invisible characters", async () => {
  const opencode = await open({
    files: {
      [`${RULES}/a.md`]:
        "## Stage-Aware Continuation\n# OpenCode Rules\n## Own heading\nsay\u202E this\u0007.",
    },
  })
  expect((await opencode.mainRequest())[0]).toContain(
    "\\## Stage-Aware Continuation\n\\# OpenCode Rules\n## Own heading\nsay this.",
  )
})

test("two copies of the plugin add the rules once", async () => {
  const first = await open({ files: { [`${RULES}/a.md`]: "A." } })
  const output = { system: ["base"] }
  await first.hook("experimental.chat.system.transform", { sessionID: "ses_1", model: {} }, output)
  await first.hook("experimental.chat.system.transform", { sessionID: "ses_1", model: {} }, output)
  expect(output.system).toHaveLength(2)
})
