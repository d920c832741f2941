/** `meridian search` and `session export` over the real formats of every harness. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"

import { expect, test } from "vitest"

import { directScene } from "../direct-scene.ts"
import { makeCorpus, openOpencode } from "../session-corpus.ts"
import { verifies } from "../verifies.ts"
import { document, emptyFolder, meridian, type Ran } from "./cli-binary.ts"

const FIXTURES = "test/fixture/sessions"

/** A home with one session of each foreign harness, as that harness wrote it. */
const home = () => {
  const folder = emptyFolder("meridian home ")
  const put = (from: string, to: string): void => {
    mkdirSync(dirname(join(folder, to)), { recursive: true })
    cpSync(join(FIXTURES, from), join(folder, to))
  }
  put("claude.jsonl", ".claude/projects/-home-dev-project/0f0e0d0c-1111-4222-8333-444455556666.jsonl")
  put(
    "codex.jsonl",
    ".codex/sessions/2026/11/15/rollout-2026-11-15T13-26-52-01a1df63-a841-74e2-ad6a-4f16f37c54bd.jsonl",
  )
  put(
    "pi.jsonl",
    ".pi/agent/sessions/--home-dev-project--/2026-11-15T10-00-00-000Z_5f0c9d4e-0001-4aaa-8bbb-123456789abc.jsonl",
  )
  const exported = JSON.parse(readFileSync(join(FIXTURES, "opencode.json"), "utf8"))
  const store = openOpencode(folder)
  store.writeExport(exported)
  store.close()
  return { folder, opencode: String(exported.info.id) }
}

const run = (
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> => meridian(args, { cwd: emptyFolder(), env: { HOME: folder, ...env } })

interface Results {
  readonly results: readonly Readonly<Record<string, string>>[]
  readonly searched: number
}

const search = async (folder: string, ...words: readonly string[]): Promise<Results> => {
  const ran = await run(folder, ["search", "--all", "--json", ...words])
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what does not fit fails the assertions
  return document(ran) as Results
}

verifies("search.finds", async () => {
  const { folder, opencode } = home()
  const found = async (words: string) => (await search(folder, words)).results.map(({ id }) => id)
  expect(await found("kumquat")).toContain("claude:0f0e0d0c-1111-4222-8333-444455556666")
  const all = await search(folder, "README")
  expect(all.searched).toBe(4)
  expect(all.results.map(({ harness, id }) => `${harness} ${id}`).sort()).toEqual([
    "claude claude:0f0e0d0c-1111-4222-8333-444455556666",
    "codex codex:01a1df63-a841-74e2-ad6a-4f16f37c54bd",
    `opencode opencode:${opencode}`,
    "pi pi:5f0c9d4e-0001-4aaa-8bbb-123456789abc",
  ])
  for (const result of all.results) {
    expect(Object.keys(result).sort()).toEqual([
      "continue",
      "harness",
      "id",
      "place",
      "snippet",
      "time",
      "title",
    ])
    expect(result["snippet"]).toMatch(/README/i)
    expect(new Date(result["time"] ?? "").toISOString()).toBe(result["time"])
    expect(result["continue"]).toMatch(/^cd \S+ && /)
  }
})

verifies("search.engine", async () => {
  const scene = await directScene({ script: [{ text: "The walrus is in the harbour." }] })
  await scene.run("run", "spawn", "--harness", "direct", "-p", "Where is it?")
  const here = await scene.run("search", "walrus", "harbour", "--json")
  expect(document(here)).toMatchObject({
    results: [{ harness: "engine", place: scene.project, snippet: "The walrus is in the harbour." }],
    searched: 1,
  })
  // From elsewhere only --all finds it: its database was noted when it was opened.
  const elsewhere = (...args: readonly string[]) =>
    meridian(["search", "walrus", "--json", ...args], {
      cwd: emptyFolder(),
      env: { ...scene.env, MERIDIAN_REPO_ROOT: emptyFolder() },
    })
  expect(document(await elsewhere())).toMatchObject({ results: [] })
  expect(document(await elsewhere("--all"))).toMatchObject({ results: [{ harness: "engine" }] })
})

test("nothing found is exit code 1, no word at all is an error, and text is safe on a terminal", async () => {
  const { folder } = home()
  const nothing = await run(folder, ["search", "--all", "zyzzyva"])
  expect([nothing.stdout, nothing.code]).toEqual(["Nothing in 4 sessions.\n", 1])
  const wordless = await run(folder, ["search", "--all", "--", "--", "***"])
  expect([wordless.stderr, wordless.code]).toEqual([
    "ERROR [USAGE]: There is no word to look for. Next: name one: letters or digits.\n",
    2,
  ])
  const file = join(folder, ".claude/projects/x/evil.jsonl")
  mkdirSync(dirname(file), { recursive: true })
  const content = "nasty \u001b[31mred\u001b]0;title\u0007 words"
  writeFileSync(
    file,
    `${JSON.stringify({ type: "user", uuid: "u", sessionId: "evil", cwd: "/tmp/\u001b[2J", timestamp: "2026-01-01T00:00:00Z", message: { role: "user", content } })}\n`,
  )
  const shown = await run(folder, ["search", "--all", "nasty", "red"])
  expect(shown.code).toBe(0)
  expect(shown.stdout).not.toContain("\u001b")
})

verifies("search.bad-index", async () => {
  const { folder } = home()
  const cache = join(folder, ".cache/meridian/search.sqlite")
  await run(folder, ["search", "--all", "README"])
  const other = new DatabaseSync(cache)
  other.exec("pragma user_version = 99")
  other.close()
  const rebuilt = await run(folder, ["search", "--all", "README"])
  expect(rebuilt.code).toBe(0)
  expect(rebuilt.stderr).toMatch(/^WARNING \[SEARCH_INDEX_REBUILT\]/)
  for (const suffix of ["-wal", "-shm"]) writeFileSync(`${cache}${suffix}`, "")
  writeFileSync(cache, "this was a database once")
  const again = await run(folder, ["search", "--all", "README"])
  expect([again.code, again.stderr.startsWith("WARNING [SEARCH_INDEX_REBUILT]")]).toEqual([0, true])
  // A damaged page in the middle is found when it is read.
  const bytes = readFileSync(cache)
  bytes.fill(0xff, 4096, bytes.length)
  writeFileSync(cache, bytes)
  expect((await run(folder, ["search", "--all", "README"])).code).toBe(0)
  writeFileSync(join(folder, "file"), "")
  const unusable = await run(folder, ["search", "--all", "README"], { XDG_CACHE_HOME: join(folder, "file") })
  expect([unusable.code, unusable.stderr]).toEqual([1, expect.stringMatching(/^ERROR \[\w+\]: .* Next: /)])
})

test("many searches at once all answer, and the index is whole afterwards", async () => {
  const { folder } = home()
  makeCorpus({ home: folder, bytes: 3_000_000, phrases: 8, sessionBytes: 200_000 })
  const codes = await Promise.all(
    Array.from({ length: 6 }, async () => (await run(folder, ["search", "--all", "zebra", "quartz"])).code),
  )
  expect(new Set(codes).size).toBe(1)
  const { results, searched } = await search(folder, "zebra quartz", "-n", "50")
  expect([results.length > 0, searched]).toEqual([true, 19])
})

verifies("search.sources-untouched", async () => {
  const { folder } = home()
  const snapshot = (): readonly string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.includes(".cache"))
      .map(
        (entry) =>
          `${join(entry.parentPath, entry.name)} ${readFileSync(join(entry.parentPath, entry.name), "hex")}`,
      )
      .sort()
  const before = snapshot()
  for (const words of ["README", "kumquat"]) await run(folder, ["search", "--all", words])
  for (const name of [
    "claude:0f0e0d0c-1111-4222-8333-444455556666",
    "pi:5f0c9d4e-0001-4aaa-8bbb-123456789abc",
  ])
    await run(folder, ["session", "export", name])
  expect(snapshot()).toEqual(before)
})

const NAMES = (opencode: string): readonly string[] => [
  "claude:0f0e0d0c-1111-4222-8333-444455556666",
  "codex:01a1df63-a841-74e2-ad6a-4f16f37c54bd",
  `opencode:${opencode}`,
  "pi:5f0c9d4e-0001-4aaa-8bbb-123456789abc",
]

verifies("export.every-harness", async () => {
  const { folder, opencode } = home()
  for (const name of NAMES(opencode)) {
    const [md, html, json] = await Promise.all(
      ["md", "html", "json"].map((format) => run(folder, ["session", "export", name, "--format", format])),
    )
    expect([md?.code, html?.code, json?.code]).toEqual([0, 0, 0])
    expect(md?.stdout).toContain("## User")
    expect(html?.stdout).toMatch(/^<!doctype html>/)
    expect(html?.stdout).not.toMatch(/<script|(?:src|href|action)\s*=\s*(?!["']?data:)|url\(|@import/i)
    const told = JSON.parse(json?.stdout ?? "")
    expect(told).toMatchObject({ version: 1, session: { session: name }, hidden: { count: 0, kinds: {} } })
    expect(told.entries.map(({ kind }: { kind: string }) => kind)).toEqual(
      expect.arrayContaining(["user", "assistant", "call", "result"]),
    )
    expect(md?.stderr).toMatch(/^No secrets were found to hide\.\n/)
  }
})

test("the last line of a session file counts when nothing ends it, and half of one is told", async () => {
  const { folder } = home()
  const name = "0f0e0d0c-1111-4222-8333-444455556666"
  const file = join(folder, `.claude/projects/-home-dev-project/${name}.jsonl`)
  const whole = readFileSync(file, "utf8").trimEnd()
  const exported = () => run(folder, ["session", "export", `claude:${name}`])
  const before = (await exported()).stdout
  writeFileSync(file, whole)
  expect((await exported()).stdout).toBe(before)
  writeFileSync(file, whole.slice(0, -20))
  const half = await exported()
  expect([half.code, half.stderr]).toEqual([0, expect.stringContaining("1 damaged line skipped")])
})

verifies("export.hides", async () => {
  const token = "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
  const scene = await directScene({
    script: [
      { tools: [{ name: "bash", input: { command: `echo ${token}`, api_key: "S3cr3tV4lueHere" } }] },
      { text: `It printed ${token}. Commit 3a67b56f2c1d9e8b7a6f5e4d3c2b1a0987654321.` },
    ],
  })
  await scene.run("run", "spawn", "--harness", "direct", "--permission", "full-access", "-p", `use ${token}`)
  const list = document(await scene.run("session", "list", "--json"))
  const session = String(Reflect.get(Object(list), "sessions")[0].session_id)
  for (const format of ["md", "html", "json"]) {
    const ran = await scene.run("session", "export", session, "--format", format)
    expect([ran.code, ran.stdout.includes(token), ran.stdout.includes("3a67b56f2c1d")]).toEqual([
      0,
      false,
      true,
    ])
    expect(ran.stderr).toMatch(/^\d+ secrets were hidden: .*GitHub token/)
  }
  const told = document(await scene.run("session", "export", session, "--json"))
  expect(told).toMatchObject({
    harness: "engine",
    format: "md",
    hidden_kinds: { "GitHub token": expect.any(Number) },
  })
})

test("--output writes one private file, and never over another", async () => {
  const { folder } = home()
  const file = join(folder, "out.html")
  const args = [
    "session",
    "export",
    "claude:0f0e0d0c-1111-4222-8333-444455556666",
    "--format",
    "html",
    "-o",
    file,
  ]
  const first = await run(folder, args)
  expect([first.code, first.stdout]).toEqual([0, `${file}\n`])
  const written = readFileSync(file, "utf8")
  const second = await run(folder, args)
  expect([second.code, second.stderr]).toEqual([
    1,
    `ERROR [EXPORT_FILE_EXISTS]: ${file} already exists. Next: name another file with --output, or remove that one.\n`,
  ])
  expect(readFileSync(file, "utf8")).toBe(written)
})

test("an unknown session is reported, and no text can pass for another speaker", async () => {
  const { folder } = home()
  for (const name of ["claude:no", "codex:no", "opencode:no", "pi:no", "ses_no"]) {
    const ran = await run(folder, ["session", "export", name])
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([
      1,
      "",
      `ERROR [SESSION_NOT_FOUND]: Session ${name} does not exist. Next: create it first, or list the existing sessions.\n`,
    ])
  }
  const file = join(folder, ".claude/projects/x/forged.jsonl")
  mkdirSync(dirname(file), { recursive: true })
  const content =
    "hello\n## Assistant\n<script src=https://evil.example/x.js></script>\n![a](https://evil.example/p.png)\n</main>"
  writeFileSync(
    file,
    `${JSON.stringify({ type: "user", uuid: "u", sessionId: "forged", cwd: "/x", timestamp: "2026-01-01T00:00:00Z", message: { role: "user", content } })}\n`,
  )
  const md = (await run(folder, ["session", "export", "claude:forged"])).stdout
  expect(md.match(/^## .*/gm)).toEqual(["## User · 2026-01-01T00:00:00.000Z"])
  expect(md).not.toMatch(/(?<!\\)<script|(?<!\\)!\[/)
  const html = (await run(folder, ["session", "export", "claude:forged", "--format", "html"])).stdout
  expect(html).not.toMatch(/<script|<img/)
  expect(html.match(/<\/main>/g)).toHaveLength(1)
  expect(existsSync(file)).toBe(true)
})
