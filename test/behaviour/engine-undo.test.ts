import { createHash } from "node:crypto"
import {
  chmodSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"

import { expect } from "vitest"

import { allEvents } from "../engine-scene.ts"
import { bash, calls, openUndoScene, type UndoScene } from "../undo-scene.ts"
import { isOnServer, verifies } from "../verifies.ts"

const SES = { sessionID: "ses_test" }

const spoken = async ({ scene: { engine } }: UndoScene): Promise<readonly string[]> =>
  (await engine.sessions.messages(SES)).items.flatMap((message) =>
    message.type === "user" ? [message.text] : [],
  )

const kept = async ({ scene: { engine } }: UndoScene): Promise<readonly string[]> =>
  (await allEvents(engine)).map(({ type }) => type).filter((type) => type.includes(".files."))

/** A file is in place of the folder that the store needs. */
const block = ({ scene: { file, directory } }: UndoScene): void => {
  if (!isOnServer) return writeFileSync(`${file}.output.trees`, "in the way")
  const folder = createHash("sha256").update(directory).digest("hex").slice(0, 24)
  for (const root of rootsOnServer()) writeFileSync(join(root, folder), "in the way")
}

const rootsOnServer = (): readonly string[] =>
  // oxlint-disable-next-line node/no-process-env -- set by `postgres-scene.ts`
  globSync(join(process.env["XDG_STATE_HOME"] ?? "", "meridian/trees/*"))

const asked = ({ scene: { requests } }: UndoScene): string => JSON.stringify(requests.at(-1)?.prompt)

verifies("undo.both", async () => {
  await using home = await openUndoScene([
    calls(["write", { path: "b.txt", content: "new\n" }]),
    { text: "written" },
    bash("echo two > a.txt; echo three > 'c\nd.txt'; rm b.txt"),
    { text: "changed" },
  ])
  const { sessions } = home.scene.engine
  await home.say("write b")
  await home.say("change a")
  const status = home.git("status", "--porcelain")
  const undone = await sessions.undo(SES)
  expect(undone).toMatchObject({
    conversation: true,
    files: [
      { path: "a.txt", change: "changed" },
      { path: "b.txt", change: "added" },
      { path: "c\nd.txt", change: "removed" },
    ],
    left: [],
    missed: [],
  })
  expect(undone.prompts.map(({ text }) => text)).toEqual(["change a"])
  expect([home.read("a.txt"), home.read("b.txt"), home.read("c\nd.txt")]).toEqual([
    "one\n",
    "new\n",
    undefined,
  ])
  expect(await spoken(home)).toEqual(["write b"])
  const redone = await sessions.redo(SES)
  expect(redone.prompts.map(({ text }) => text)).toEqual(["change a"])
  expect(home.git("status", "--porcelain")).toBe(status)
  expect(await spoken(home)).toEqual(["write b", "change a"])
  await sessions.undo({ ...SES, count: 2 })
  expect(home.git("status", "--porcelain")).toBe("")
  await home.say("again")
  expect(asked(home)).not.toContain("change a")
  expect(asked(home)).not.toContain("write b")
  await expect(sessions.redo(SES)).rejects.toMatchObject({ code: "NOTHING_TO_REDO" })
  await expect(sessions.undo({ ...SES, count: 2 })).rejects.toMatchObject({ code: "NOTHING_TO_UNDO" })
  // Another process, and a rebuild of the projections, give the same result.
  await home.scene.reopen()
  expect(await spoken(home)).toEqual(["again"])
})

verifies(
  "undo.both",
  async () => {
    await using home = await openUndoScene([
      { text: "first answer" },
      { text: "second answer" },
      { text: "SUMMARY" },
      { text: "third answer" },
    ])
    const { sessions } = home.scene.engine
    await home.say("one")
    await home.say("two")
    await sessions.compact(SES.sessionID)
    await sessions.undo(SES)
    await home.say("three")
    expect(asked(home)).toContain("first answer")
    expect(asked(home)).not.toContain("second answer")
    expect(asked(home)).not.toContain("SUMMARY")
  },
  "a compaction that summed up what is taken back is taken back with it",
)

verifies("undo.alone", async () => {
  await using home = await openUndoScene([bash("echo two > a.txt"), { text: "done it" }])
  const { sessions } = home.scene.engine
  await home.say("change a")
  await sessions.undo({ ...SES, conversation: false })
  expect([home.read("a.txt"), await spoken(home)]).toEqual(["one\n", ["change a"]])
  await sessions.redo(SES)
  expect(home.read("a.txt")).toBe("two\n")
  await sessions.undo({ ...SES, files: false })
  expect([home.read("a.txt"), await spoken(home)]).toEqual(["two\n", []])
  // Its files are still changed, so they can still be undone.
  await sessions.undo({ ...SES, conversation: false })
  expect(home.read("a.txt")).toBe("one\n")
  await sessions.redo(SES)
  await sessions.redo(SES)
  expect([home.read("a.txt"), await spoken(home)]).toEqual(["two\n", ["change a"]])
  await expect(sessions.undo({ ...SES, files: false, conversation: false })).rejects.toMatchObject({
    code: "INVALID_INPUT",
  })
})

verifies("undo.others", async () => {
  await using home = await openUndoScene([bash("echo two > a.txt; echo new > b.txt"), { text: "done" }])
  const { sessions } = home.scene.engine
  await home.say("change")
  home.write("a.txt", "mine\n")
  home.write("other.txt", "mine too\n")
  await expect(sessions.undo(SES)).rejects.toMatchObject({
    code: "FILES_CHANGED",
    message: expect.stringContaining("a.txt"),
  })
  expect([home.read("a.txt"), home.read("b.txt"), await spoken(home)]).toEqual([
    "mine\n",
    "new\n",
    ["change"],
  ])
  await sessions.undo({ ...SES, overwrite: true })
  expect([home.read("a.txt"), home.read("b.txt"), home.read("other.txt")]).toEqual([
    "one\n",
    undefined,
    "mine too\n",
  ])
  await sessions.redo(SES)
  expect(home.read("a.txt")).toBe("mine\n")
})

verifies(
  "undo.others",
  async () => {
    await using home = await openUndoScene([
      bash("echo two > a.txt"),
      { text: "done" },
      bash("echo three >> a.txt"),
      { text: "done" },
    ])
    const { sessions } = home.scene.engine
    await home.say("change")
    home.write("a.txt", "two\nmine\n")
    await home.say("change more")
    await sessions.undo(SES)
    expect(home.read("a.txt")).toBe("two\nmine\n")
    await expect(sessions.undo(SES)).rejects.toMatchObject({ code: "FILES_CHANGED" })
  },
  "a change between two prompts is nobody's to take back",
)

verifies("undo.user-repository", async () => {
  await using home = await openUndoScene([bash("echo two > a.txt; echo new > new.txt"), { text: "done" }])
  const { directory, engine } = home.scene
  const trap = (name: string): string => `touch '${join(directory, "..", name)}'`
  home.write("staged.txt", "staged\n")
  home.git("add", "staged.txt")
  home.write(".gitattributes", "*.txt filter=trap diff=trap\n")
  for (const [key, name] of [
    ["filter.trap.clean", "clean"],
    ["filter.trap.smudge", "smudge"],
    ["filter.trap.process", "process"],
    ["diff.trap.textconv", "textconv"],
    ["core.fsmonitor", "fsmonitor"],
    ["core.alternateRefsCommand", "alternate"],
  ] as const)
    home.git("config", key, `${trap(name)}; cat`)
  mkdirSync(join(directory, ".git/hooks"), { recursive: true })
  for (const hook of ["post-checkout", "reference-transaction", "post-index-change"]) {
    writeFileSync(join(directory, ".git/hooks", hook), `#!/bin/sh\n${trap(hook)}\n`)
    chmodSync(join(directory, ".git/hooks", hook), 0o755)
  }
  const own = () => [
    readFileSync(join(directory, ".git/index")).toString("base64"),
    readFileSync(join(directory, ".git/HEAD"), "utf8"),
    readFileSync(join(directory, ".git/config"), "utf8"),
  ]
  const before = own()
  await home.say("change")
  await engine.sessions.files({ ...SES, diff: "patch" })
  await engine.sessions.undo(SES)
  expect([home.read("a.txt"), home.read("new.txt")]).toEqual(["one\n", undefined])
  await engine.sessions.redo(SES)
  expect(own()).toEqual(before)
  for (const name of ["clean", "smudge", "process", "textconv", "fsmonitor", "alternate"])
    expect([name, existsSync(join(directory, "..", name))]).toEqual([name, false])
  for (const name of ["post-checkout", "reference-transaction", "post-index-change"])
    expect([name, existsSync(join(directory, "..", name))]).toEqual([name, false])
  const refs = home.git("-c", "core.fsmonitor=false", "for-each-ref", "--format=%(refname) %(objecttype)")
  expect(
    refs
      .trim()
      .split("\n")
      .filter((ref) => !/^refs\/meridian\/files\/ses_test\/\d{9} tree$/.test(ref)),
  ).toEqual(["refs/heads/main commit"])
})

verifies("undo.kinds", async () => {
  await using home = await openUndoScene(
    [
      bash(
        [
          "echo changed > untracked.txt",
          "chmod 755 run.sh",
          "ln -sfn b.txt link",
          "printf 'a\\r\\nb\\n' > mixed.txt",
          "rm -r folder; echo file > folder",
          "echo ignored > out/made.txt",
          "printf x >> huge.bin",
          "rm tracked.txt",
        ].join("; "),
      ),
      { text: "done" },
    ],
    {
      files: {
        "run.sh": "echo\n",
        ".gitignore": "out/\n",
        "folder/deep/file.txt": "deep\n",
        "mixed.txt": "a\nb\r\n",
        "tracked.txt": "tracked\n",
      },
    },
  )
  const { directory, engine } = home.scene
  home.write("untracked.txt", "mine\n")
  home.write("out/old.txt", "old\n")
  home.write("huge.bin", "")
  truncateSync(join(directory, "huge.bin"), 5_000_000_000)
  symlinkSync("a.txt", join(directory, "link"))
  mkdirSync(join(directory, "nested"))
  home.git("init", "--quiet", "nested")
  await home.say("change all")
  const shown = await engine.sessions.files(SES)
  expect(shown.skipped).toEqual(["huge.bin"])
  expect(shown.files.map(({ path }) => path)).toEqual([
    "folder",
    "folder/deep/file.txt",
    "link",
    "mixed.txt",
    "run.sh",
    "tracked.txt",
    "untracked.txt",
  ])
  await engine.sessions.undo(SES)
  expect([home.read("untracked.txt"), home.read("mixed.txt"), home.read("folder/deep/file.txt")]).toEqual([
    "mine\n",
    "a\nb\r\n",
    "deep\n",
  ])
  expect(readlinkSync(join(directory, "link"))).toBe("a.txt")
  expect(lstatSync(join(directory, "run.sh")).mode & 0o111).toBe(0)
  expect(home.read("tracked.txt")).toBe("tracked\n")
  // We keep neither ignored nor huge files.
  expect(home.read("out/made.txt")).toBe("ignored\n")
  expect(lstatSync(join(directory, "huge.bin")).size).toBe(5_000_000_001)
})

verifies(
  "undo.kinds",
  async () => {
    await using home = await openUndoScene(
      [calls(["write", { path: ".env", content: "SECRET=2\n" }]), { text: "done" }],
      { files: { ".gitignore": ".env\n" } },
    )
    home.write(".env", "SECRET=1\n")
    await home.say("change")
    await home.scene.engine.sessions.undo(SES)
    expect(home.read(".env")).toBe("SECRET=1\n")
  },
  "an ignored file that a tool names comes back",
)

verifies("undo.outside", async () => {
  await using home = await openUndoScene(
    [bash("echo two > a.txt; mkdir d; echo x > d/x"), { text: "done" }],
    {
      isRepository: false,
      files: { "a.txt": "one\n", "node_modules/big/file.js": "x" },
    },
  )
  const { sessions } = home.scene.engine
  await home.say("change")
  expect((await sessions.files(SES)).files.map(({ path }) => path)).toEqual(["a.txt", "d/x"])
  await sessions.undo(SES)
  expect([home.read("a.txt"), existsSync(join(home.scene.directory, "d"))]).toEqual(["one\n", false])
  await sessions.redo(SES)
  expect([home.read("a.txt"), home.read("d/x")]).toEqual(["two\n", "x\n"])
  expect(existsSync(join(home.scene.directory, ".git"))).toBe(false)
})

verifies(
  "undo.outside",
  async () => {
    await using home = await openUndoScene([bash("echo two > a.txt"), { text: "done" }], {
      isRepository: false,
    })
    await home.say("change")
    const next = await home.scene.reopen()
    await next.sessions.undo(SES)
    expect(home.read("a.txt")).toBe("one\n")
  },
  "the next engine on this machine has that store, too",
)

verifies("undo.missed", async () => {
  await using home = await openUndoScene([bash("echo two > a.txt"), { text: "done" }])
  block(home)
  await home.say("change")
  expect(home.read("a.txt")).toBe("two\n")
  expect(await kept(home)).toEqual(["session.next.files.missed.1"])
  const undone = await home.scene.engine.sessions.undo(SES)
  expect(undone).toMatchObject({ files: [], missed: [expect.any(String)] })
  expect([home.read("a.txt"), await spoken(home)]).toEqual(["two\n", []])
})

verifies("undo.only-reads", async () => {
  await using home = await openUndoScene([
    calls(["read", { path: "a.txt" }], ["grep", { pattern: "one" }], ["glob", { pattern: "*" }]),
    bash("git status"),
    bash("ls -la"),
    calls(["bash", { command: "cat a.txt" }]),
    { text: "done" },
  ])
  await home.say("look")
  expect(await kept(home)).toEqual([])
  expect(existsSync(`${home.scene.file}.output.trees`)).toBe(false)
  expect(home.git("for-each-ref", "refs/meridian")).toBe("")
})

verifies("undo.two-sessions", async () => {
  await using home = await openUndoScene([
    bash("echo long > long.txt; touch ../began; while [ ! -e ../go ]; do sleep 0.01; done"),
    calls(["write", { path: "second.txt", content: "second\n" }]),
    { text: "done" },
    { text: "done" },
  ])
  const { engine, directory } = home.scene
  await engine.sessions.create({ id: "ses_two", location: { directory } })
  const first = home.say("run for long")
  const reached = async (): Promise<void> => {
    while (!existsSync(join(directory, "../began"))) await new Promise((next) => setImmediate(next))
  }
  await reached()
  // The other session writes while the command of the first one runs.
  await home.say("second", "ses_two")
  writeFileSync(join(directory, "../go"), "")
  await first
  await engine.sessions.undo(SES)
  expect([home.read("long.txt"), home.read("second.txt")]).toEqual([undefined, "second\n"])
  await engine.sessions.undo({ sessionID: "ses_two" })
  expect(home.read("second.txt")).toBe(undefined)
})

verifies("undo.files-at", async () => {
  await using home = await openUndoScene([
    calls(["edit", { path: "a.txt", oldString: "one", newString: "two" }]),
    { text: "done" },
    { text: "nothing to do" },
  ])
  const { sessions } = home.scene.engine
  await home.say("change")
  await home.say("nothing")
  const shown = await sessions.files({ ...SES, at: 1, diff: "patch" })
  expect(shown).toMatchObject({
    prompt: { number: 1, text: "change" },
    files: [{ path: "a.txt", change: "changed" }],
  })
  expect(shown.diff).toContain("-one\n+two\n")
  expect(await sessions.files({ ...SES, at: shown.prompt.id, diff: "stat" })).toMatchObject({
    diff: expect.stringContaining("a.txt | 2 +-"),
  })
  expect(await sessions.files(SES)).toMatchObject({ prompt: { number: 2 }, files: [] })
  await expect(sessions.files({ ...SES, at: 3 })).rejects.toMatchObject({ code: "PROMPT_NOT_FOUND" })
})

verifies("undo.fork-at", async () => {
  await using home = await openUndoScene([
    bash("echo two > a.txt"),
    { text: "first done" },
    bash("echo three > a.txt"),
    { text: "second done" },
  ])
  const { sessions } = home.scene.engine
  await home.say("first")
  await home.say("second")
  const plain = await sessions.fork({ ...SES, at: 1 })
  expect(home.read("a.txt")).toBe("three\n")
  const texts = async (sessionID: string): Promise<string> =>
    JSON.stringify((await sessions.messages({ sessionID })).items)
  expect(await texts(plain.id)).toContain("first done")
  expect(await texts(plain.id)).not.toContain("second")
  const fork = await sessions.fork({ ...SES, at: 1, files: true, id: "ses_fork" })
  expect(home.read("a.txt")).toBe("two\n")
  expect(await sessions.fork({ ...SES, at: 1, files: true, id: "ses_fork" })).toEqual(fork)
  expect(await texts(SES.sessionID)).toContain("second done")
  // What the fork has copied can be undone there, too.
  await sessions.undo({ sessionID: fork.id })
  expect(home.read("a.txt")).toBe("one\n")
})

verifies("undo.retention", async () => {
  await using home = await openUndoScene([bash("echo two > a.txt"), { text: "done" }])
  await home.say("change")
  expect(home.git("for-each-ref", "refs/meridian")).not.toBe("")
  home.git("gc", "--quiet", "--prune=now")
  await home.scene.engine.sessions.undo(SES)
  expect(home.read("a.txt")).toBe("one\n")
  await home.scene.engine.sessions.delete(SES.sessionID)
  expect(home.git("for-each-ref", "refs/meridian")).toBe("")
})
