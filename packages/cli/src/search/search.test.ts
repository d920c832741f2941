import { createHash } from "node:crypto"
import {
  appendFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { afterAll, expect, test } from "vitest"

import { makeCorpus, openOpencode } from "../../../../test/session-corpus.ts"
import { harnessPlaces } from "../sessions/harness-places.ts"
import { countSessions, findSessions, type Scope } from "./find-sessions.ts"
import { readQuery } from "./query.ts"
import { openSearchIndex } from "./search-index.ts"
import { updateIndex } from "./update-index.ts"

const root = mkdtempSync(join(tmpdir(), "search-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let scenes = 0

const NO_ENGINES = {
  paths: [],
  server: undefined,
  open: () => Promise.reject(new Error("there is none")),
  [Symbol.asyncDispose]: async () => undefined,
}

const openScene = () => {
  scenes += 1
  const home = join(root, `home ${scenes}`)
  mkdirSync(home)
  const { database } = openSearchIndex(join(root, `cache ${scenes}`, "search.sqlite"))
  const places = harnessPlaces({ HOME: home })
  /** Bytes of session files that had to be read. */
  const update = async (signal = new AbortController().signal): Promise<number> => {
    let due = 0
    await updateIndex(database, {
      places,
      engines: NO_ENGINES,
      signal,
      progress: (_done, all) => (due = all),
    })
    return due
  }
  const find = async (words: string, scope: Scope = {}) => {
    const query = readQuery(words)
    return query === undefined
      ? []
      : findSessions(database, query, { engines: NO_ENGINES, ...scope, limit: 10 })
  }
  return { home, database, update, find }
}

/** One Claude session with these prompts. */
const claude = (
  home: string,
  id: string,
  prompts: readonly string[],
  directory = "/home/dev/app",
): string => {
  const file = join(home, ".claude/projects/-home-dev-app", `${id}.jsonl`)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, prompts.map((text, n) => line(id, n, text, directory)).join(""))
  return file
}

const line = (id: string, n: number, text: string, directory = "/home/dev/app"): string =>
  `${JSON.stringify({
    type: "user",
    uuid: `${id}-${n}`,
    parentUuid: n === 0 ? null : `${id}-${n - 1}`,
    sessionId: id,
    cwd: directory,
    timestamp: new Date(Date.parse("2026-11-01T10:00:00Z") + n * 1_000).toISOString(),
    message: { role: "user", content: text },
  })}\n`

const treeOf = (folder: string): readonly string[] =>
  globSync("**/*", { cwd: folder })
    .concat(globSync("**/.*/**/*", { cwd: folder }))
    .sort()
    .filter((path) => statSync(join(folder, path)).isFile())
    .map(
      (path) =>
        `${path} ${createHash("sha256")
          .update(readFileSync(join(folder, path)))
          .digest("hex")}`,
    )

test("100 planted phrases are found in the right session, and the sources stay as they are", async () => {
  const { home, database, update, find } = openScene()
  const corpus = makeCorpus({ home, bytes: 6_000_000, phrases: 100, sessionBytes: 100_000 })
  const before = treeOf(home)
  await update()
  const wrong: string[] = []
  for (const { phrase, harness, id, directory } of corpus.planted) {
    const [first, ...others] = await find(phrase)
    if (
      first === undefined ||
      others.some(({ snippet }) => snippet.includes(phrase)) ||
      first.keeper !== harness ||
      first.id !== id ||
      first.directory !== directory ||
      !first.snippet.includes(phrase)
    )
      wrong.push(phrase)
  }
  expect(wrong).toEqual([])
  expect(countSessions(database, {})).toBe(corpus.sessions)
  expect(treeOf(home)).toEqual(before)
})

test("later only new lines are read, and a half-written line waits for its end", async () => {
  const { home, update, find } = openScene()
  const file = claude(home, "a", ["first needle", "second needle"])
  expect(await update()).toBe(statSync(file).size)
  expect(await update()).toBe(0)
  const whole = line("a", 2, "third haystack")
  appendFileSync(file, whole.slice(0, 50))
  await update()
  expect(await find("haystack")).toEqual([])
  appendFileSync(file, whole.slice(50))
  await update()
  expect((await find("haystack")).map(({ id }) => id)).toEqual(["a"])
  expect((await find("needle")).map(({ snippet }) => snippet)).toEqual(["first needle"])
})

test("sessions deleted at their source leave the index, and replaced ones are read anew", async () => {
  const { home, update, find } = openScene()
  const [gone, replaced] = [claude(home, "gone", ["walrus"]), claude(home, "kept", ["albatross here"])]
  await update()
  expect([(await find("walrus")).length, (await find("albatross")).length]).toEqual([1, 1])
  rmSync(gone)
  claude(home, "kept", ["something else altogether, and longer than before"])
  await update()
  expect([
    await find("walrus"),
    await find("albatross"),
    (await find("altogether")).map(({ id }) => id),
  ]).toEqual([[], [], ["kept"]])
  truncateSync(replaced, 0)
  await update()
  expect(await find("altogether")).toEqual([])
})

test("changed sessions of OpenCode are read again, and deleted ones leave the index", async () => {
  const { home, update, find } = openScene()
  const store = openOpencode(home)
  const meta = { id: "ses_one", directory: "/home/dev/app", index: 0 }
  store.write(meta, [{ kind: "prompt", text: "crocodile" }])
  await update()
  expect(await find("crocodile")).toMatchObject([{ keeper: "opencode", id: "ses_one", title: "Session 0" }])
  store.write({ ...meta, id: "ses_two" }, [{ kind: "prompt", text: "crocodile again" }])
  await update()
  expect((await find("crocodile")).map(({ id }) => id).sort()).toEqual(["ses_one", "ses_two"])
  store.remove("ses_one")
  await update()
  expect((await find("crocodile")).map(({ id }) => id)).toEqual(["ses_two"])
  store.close()
})

test("garbage among the sessions is skipped, and the rest is found", async () => {
  const { home, update, find, database } = openScene()
  const file = claude(home, "good", ["before"])
  appendFileSync(file, '{"broken\n\u0000\u0001\nnull\n[1]\n42\n{}\n')
  appendFileSync(file, line("good", 1, "behind the rubbish"))
  const folder = dirname(file)
  writeFileSync(
    join(folder, "noise.jsonl"),
    Buffer.from(Array.from({ length: 5_000 }, (_none, n) => n % 256)),
  )
  writeFileSync(join(folder, "empty.jsonl"), "")
  writeFileSync(join(folder, "notes.txt"), "behind")
  mkdirSync(join(folder, "folder.jsonl"))
  symlinkSync("/etc/passwd", join(folder, "link.jsonl"))
  mkdirSync(join(home, ".local/share/opencode"), { recursive: true })
  writeFileSync(join(home, ".local/share/opencode/opencode.db"), "this is no database")
  const updated = await updateIndex(database, {
    places: harnessPlaces({ HOME: home }),
    engines: NO_ENGINES,
    signal: new AbortController().signal,
    progress: () => undefined,
  })
  expect(updated.unreadable).toEqual([join(home, ".local/share/opencode/opencode.db")])
  await update()
  expect((await find("behind rubbish")).map(({ id }) => id)).toEqual(["good"])
})

test("a line longer than any window is its own window, and texts around it are found", async () => {
  const { home, update, find } = openScene()
  const file = claude(home, "long", ["small start"])
  appendFileSync(file, line("long", 1, `${"x ".repeat(9_000_000)} tail-of-long`))
  appendFileSync(file, line("long", 2, "small end"))
  await update()
  for (const words of ["small start", "tail-of-long", "small end"])
    expect((await find(words))[0]?.id).toBe("long")
})

test("a scope is a directory with everything below it, or a harness", async () => {
  const { home, database, update, find } = openScene()
  claude(home, "app", ["needle"], "/home/dev/app")
  claude(home, "sub", ["needle"], "/home/dev/app/packages/x")
  claude(home, "other", ["needle"], "/home/dev/application")
  await update()
  const names = async (scope: Scope) => (await find("needle", scope)).map(({ id }) => id).sort()
  expect(await names({ directory: "/home/dev/app" })).toEqual(["app", "sub"])
  expect(await names({ directory: "/home/dev/app/" })).toEqual(["app", "sub"])
  expect(await names({})).toEqual(["app", "other", "sub"])
  expect(await names({ keeper: "codex" })).toEqual([])
  expect(countSessions(database, { directory: "/home/dev/app" })).toBe(2)
})

test("words in a row rank before words apart, quotation marks demand a row, and a star matches any rest", async () => {
  const { home, update, find } = openScene()
  claude(home, "apart", ["the retry was slow and its budget small"])
  claude(home, "row", ["a retry budget of three"])
  claude(home, "part", ["authentication"])
  await update()
  const names = async (words: string) => (await find(words)).map(({ id }) => id)
  expect(await names("retry budget")).toEqual(["row", "apart"])
  expect(await names('"retry budget"')).toEqual(["row"])
  expect(await names("auth*")).toEqual(["part"])
  expect(await names("auth")).toEqual([])
  expect(await names("RETRY Büdget")).toEqual(["row", "apart"])
  expect(await names('") OR "a" NOT (')).toEqual([])
  expect(await names("-- * \" '")).toEqual([])
})

test("a stopped update keeps what it has, and the next one continues", async () => {
  const { home, update, find } = openScene()
  makeCorpus({ home, bytes: 12_000_000, phrases: 10, sessionBytes: 12_000_000 / 4 })
  const stop = new AbortController()
  const stopped = update(stop.signal)
  stop.abort()
  await stopped
  await update()
  expect((await find("zebra quartz lighthouse")).length).toBeGreaterThan(0)
  expect(await update()).toBe(0)
})
