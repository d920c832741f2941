/**
 * A process that keeps, takes back and brings back files dies by SIGKILL: at each start and end of git, at each write of
 * the log, and at each change it makes itself. MERIDIAN_KILLS=all dies at every step; otherwise at a spread of steps.
 */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { openEngine, type Engine } from "@meridian/engine"
import { expect } from "vitest"

import { allEvents } from "../engine-scene.ts"
import { processesOf, until } from "../scene/spaces.ts"
import { verifies } from "../verifies.ts"
import { FIRST, SECOND, SES, undoOptions } from "./undo-worker.ts"

// oxlint-disable-next-line node/no-process-env -- how long somebody wants to wait
const all = process.env["MERIDIAN_KILLS"] === "all"
/** The number of tests that share the steps, so that none takes long on a busy machine. */
const SHARES = [0, 1, 2, 3] as const
const SHORT = 18

interface House {
  readonly base: string
  readonly project: string
  readonly database: string
}

const build = (): House => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "meridian-undo-killed-")))
  const project = join(base, "project")
  mkdirSync(project)
  const put = (name: string, content: string): void => writeFileSync(join(project, name), content)
  put("a.txt", "one\n")
  put("gone.txt", "gone\n")
  put("tool", "#!/bin/sh\n")
  chmodSync(join(project, "tool"), 0o644)
  symlinkSync("tool", join(project, "link"))
  git(project, "init", "--quiet", "--initial-branch=main")
  git(project, "add", "--all")
  git(project, "commit", "--quiet", "-m", "first")
  put("untracked.txt", "mine\n")
  return { base, project, database: join(base, "engine.sqlite") }
}

const git = (cwd: string, ...words: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], { cwd, encoding: "utf8" })

/** Every file with its kind, mode and content. */
const look = (project: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(project, { recursive: true, encoding: "utf8" })
      .filter((name) => !/^\.git(?:\/|$)/.test(name))
      .toSorted()
      .flatMap((name) => {
        const file = join(project, name)
        const stat = lstatSync(file)
        if (stat.isSymbolicLink()) return [[name, `-> ${readlinkSync(file)}`]]
        return stat.isFile() ? [[name, `${stat.mode.toString(8)} ${readFileSync(file, "utf8")}`]] : []
      }),
  )

/** The user's own part of the git folder. */
const ownGit = (project: string): string =>
  [".git/HEAD", ".git/index"].map((name) => readFileSync(join(project, name), "latin1")).join("\n")

/** Returns how far it came. */
const live = async (
  { base, project, database }: House,
  crash: Readonly<Record<string, string>>,
): Promise<string> => {
  const child = spawn(
    process.execPath,
    ["--conditions=meridian-source", join(import.meta.dirname, "undo-killed.entry.ts"), database, project],
    // oxlint-disable-next-line node/no-process-env -- the tools of this machine
    { env: { PATH: process.env["PATH"], HOME: base, ...crash }, stdio: ["ignore", "pipe", "pipe"] },
  )
  let said = ""
  let errors = ""
  child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()))
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()))
  const [code, signal] = await once(child, "close")
  if (signal !== "SIGKILL" && code !== 0) throw new Error(`it ended with ${String(code)}: ${errors}`)
  // The processes it started outlive it.
  await until(() => processesOf(base).length === 0)
  return said.trim().split("\n").at(-1) ?? ""
}

const spoken = async ({ sessions }: Engine): Promise<readonly string[]> =>
  (await sessions.messages(SES)).items.flatMap((message) => (message.type === "user" ? [message.text] : []))

/** Undefined: nothing (more) to take or bring back. */
const unlessNothing = async <A>(work: Promise<A>): Promise<A | undefined> =>
  work.catch((error: unknown) => {
    if (error instanceof Error && "code" in error && String(error.code).startsWith("NOTHING_TO_"))
      return undefined
    throw error
  })

/** Checks everything about one life from a later process. */
const checkAfter = async (
  house: House,
  { came, before, after }: Record<"before" | "after", ReturnType<typeof look>> & { readonly came: string },
): Promise<void> => {
  const { project, database } = house
  const found = look(project)
  // Git changes all files in one step, even when its caller is gone.
  if (came !== "") expect([before, after]).toContainEqual(found)
  const engine = await openEngine(undoOptions(database))
  const { sessions } = engine
  const say = async (text: string): Promise<void> => {
    await sessions.prompt({ ...SES, prompt: { text } })
    await sessions.wait(SES.sessionID)
  }
  try {
    const begun = (await allEvents(engine)).findLast(({ type }) => type.includes(".undo."))
    /** A request repeated after a cut-off returns what the first one did. */
    const isAnswered = (told: unknown): boolean =>
      told !== undefined || begun?.type !== "session.next.undo.started.1"
    if (came === "undone") {
      expect(await unlessNothing(sessions.redo(SES))).toSatisfy(isAnswered)
      expect([look(project), await spoken(engine)]).toEqual([after, [FIRST]])
    }
    if (came === "") {
      // Its work continues or stays as it is.
      await sessions.run(SES.sessionID)
      await sessions.wait(SES.sessionID)
    }
    const stood = look(project)
    const wasSaid = await spoken(engine)
    // When the end of a turn is unknown, the user is asked. `overwrite` is the answer.
    const wish = { ...SES, overwrite: came === "" }
    const undone = await unlessNothing(sessions.undo(wish))
    if (came === "kept") expect(undone).toSatisfy(isAnswered)
    expect([undone?.left ?? [], look(project), await spoken(engine)]).toEqual([[], before, []])
    if (undone !== undefined) {
      await sessions.redo(SES)
      if (came === "") expect([look(project), await spoken(engine)]).toEqual([stood, wasSaid])
      else expect([look(project), await spoken(engine)]).toEqual([after, [FIRST]])
      await sessions.undo(wish)
      expect([look(project), await spoken(engine)]).toEqual([before, []])
    }
    // The next work is kept as usual.
    await say(SECOND)
    expect(readFileSync(join(project, "named/new.txt"), "utf8")).toBe(`${SECOND}\n`)
    expect(await sessions.undo(SES)).toMatchObject({ left: [], missed: [] })
    expect(look(project)).toEqual(before)
  } finally {
    await engine.close()
  }
}

const checkLeft = ({ base, project }: House, own: string): void => {
  expect(ownGit(project)).toBe(own)
  expect(git(project, "fsck", "--no-dangling")).not.toMatch(/missing|broken|error/)
  expect(git(project, "status", "--porcelain")).toBe("?? untracked.txt\n")
  const locks = globSync(["**/*.lock", "**/*.index.*"], { cwd: base, exclude: ["**/node_modules/**"] })
  expect(locks).toEqual([])
}

const killed = async (share: number): Promise<void> => {
  const first = build()
  let after: ReturnType<typeof look> = {}
  let steps = 0
  try {
    const file = join(first.base, "steps")
    expect(await live(first, { CRASH_COUNT: file })).toBe("redone")
    steps = Number(readFileSync(file, "utf8"))
    after = look(first.project)
  } finally {
    rmSync(first.base, { recursive: true, force: true })
  }
  expect(steps).toBeGreaterThan(60)
  expect(after).toMatchObject({ "a.txt": "100644 two\n", link: "-> a.txt" })
  const stride = SHARES.length * (all ? 1 : SHORT)
  for (let step = 1 + share * (all ? 1 : SHORT); step <= steps; step += stride) {
    const house = build()
    const before = look(house.project)
    const own = ownGit(house.project)
    try {
      const came = await live(house, { CRASH_AT: String(step) })
      await checkAfter(house, { came, before, after })
      checkLeft(house, own)
    } catch (cause) {
      throw new Error(`after the death at step ${step} of ${steps}`, { cause })
    } finally {
      rmSync(house.base, { recursive: true, force: true })
    }
  }
}

for (const share of SHARES) verifies("undo.crash", () => killed(share), `share ${share + 1}`)
