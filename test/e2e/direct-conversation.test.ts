/** A user's conversation with the engine, through a real pseudo-terminal. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"

import { createClient } from "@meridian/server/client"
import { expect, test, vi } from "vitest"

import { directScene, type DirectScene, type SceneOptions } from "../direct-scene.ts"
import { verifies } from "../verifies.ts"
import { BINARY, document } from "./cli-binary.ts"
import { openPseudoTerminal, type PseudoOptions, type PseudoTerminal } from "./pseudo-terminal.ts"
import { startServer } from "./server-process.ts"

interface Sitting extends DirectScene {
  /** `meridian start` with these words, in its own terminal. */
  readonly sit: (words?: readonly string[], options?: Partial<PseudoOptions>) => PseudoTerminal
  /** A shell that starts it, to see what it leaves. */
  readonly shell: () => PseudoTerminal
}

const sitting = async (options: SceneOptions = {}): Promise<Sitting> => {
  const scene = await directScene(options)
  const open = (command: string, args: readonly string[], more: Partial<PseudoOptions> = {}) =>
    openPseudoTerminal(command, args, { cwd: scene.project, ...more, env: { ...scene.env, ...more.env } })
  return {
    ...scene,
    sit: (words = ["--harness", "direct"], more = {}) =>
      open(process.execPath, [BINARY, "start", ...words], more),
    shell: () => open("/bin/sh", [], { env: { PS1: "$ ", ENV: "", NODE: process.execPath, BINARY } }),
  }
}

/** As typed in our shell. */
const START = '"$NODE" "$BINARY" start'
const CTRL_C = "\u0003"
const CTRL_D = "\u0004"
const CTRL_V = "\u0016"
const PASTE_ON = "\u001B[200~"
const PASTE_OFF = "\u001B[201~"
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x01])
const OTHER_PNG = Buffer.concat([PNG, Buffer.from([0x02])])
const READY = "/help shows the commands"

/** The input line is last, and empty. */
const idle = (text: string): boolean => text.endsWith("\n>") && !text.includes("Working;")

verifies("direct.conversation", async () => {
  const { sit } = await sitting({
    script: [
      {
        reasoning: "They want it run.",
        text: "I will run it.",
        chunks: 4,
        tools: [{ name: "bash", input: { command: "echo from-the-shell" } }],
        usage: { input: 1200, output: 30, cacheRead: 300 },
      },
      { text: "It said from-the-shell.", usage: { input: 1300, output: 10 } },
    ],
  })
  const terminal = sit()
  await terminal.until("Meridian direct: anthropic/claude-sonnet-4-6, agent build")
  terminal.type("Run it, please.\r")
  await terminal.until("I will run it.")
  const asking = await terminal.until("[y] once  [a] always  [n] no")
  expect(asking).toContain("> Run it, please.")
  expect(asking).toContain("? bash echo from-the-shell (waits for your answer)")
  expect(asking).toMatch(/Allow bash\?\n {2}echo from-the-shell\n/)
  terminal.type("y")
  await terminal.until("✓ bash echo from-the-shell")
  await terminal.until("It said from-the-shell.")
  const done = await terminal.until(/2,800 tokens in \(300 cached\), 40 out, \$0\.\d+, context \d+ %/)
  expect(done).not.toContain("Allow bash?")
  for (const once of ["They want it run.", "I will run it.", "It said from-the-shell."])
    expect(done.split(once)).toHaveLength(2)
  terminal.type(CTRL_C)
  await terminal.until("Ctrl-C again leaves")
  terminal.type(CTRL_C)
  expect(await terminal.exited).toEqual({ code: 0, signal: 0 })
  await terminal.until("Continue this chat with: meridian start --space s1 --continue c1")
})

test("text is shown while it is still being written", async () => {
  const { sit, provider } = await sitting({
    script: [{ text: "The first half, and the second.", chunks: 4, hold: "middle" }],
  })
  const terminal = sit(["--harness", "direct", "-p", "go"])
  const half = await terminal.until("The first")
  expect(half).not.toContain("second")
  provider.release()
  await terminal.until("The first half, and the second.")
  terminal.type(CTRL_D)
  expect(await terminal.exited).toEqual({ code: 0, signal: 0 })
})

verifies("direct.interrupt", async () => {
  const { sit } = await sitting({
    script: [
      { text: "Half a thought and then nothing more", chunks: 6, hold: "middle" },
      { text: "Here again." },
      { text: "Never ends at all", chunks: 4, hold: "middle" },
    ],
  })
  const terminal = sit()
  await terminal.until(READY)
  terminal.type("think\r")
  await terminal.until("Half a thought")
  await terminal.until("Working; Ctrl-C stops it")
  terminal.type(CTRL_C)
  await terminal.until("Interrupted.")
  terminal.type("go on\r")
  await terminal.until("Here again.")
  await terminal.until(idle)
  terminal.type("and now\r")
  await terminal.until("Never")
  terminal.type(CTRL_C)
  terminal.type(CTRL_C)
  expect(await terminal.exited).toEqual({ code: 0, signal: 0 })
})

verifies("direct.continue", async () => {
  const { shell } = await sitting()
  const terminal = shell()
  terminal.type(
    `stty -g > before; ${START} --harness direct -p 'first words'; stty -g > after; cmp before after && echo the-''same\r`,
  )
  await terminal.until("echo: first words")
  await terminal.until(idle)
  terminal.type(`${CTRL_C}${CTRL_C}`)
  await terminal.until("the-same")
  terminal.type(`clear; ${START} --continue\r`)
  await terminal.until(/> first words\necho: first words/)
  terminal.type("second words\r")
  await terminal.until("echo: second words")
  await terminal.until(idle)
  terminal.type("\u001B[A")
  await terminal.until(/> second words$/)
  terminal.type(CTRL_C)
  await terminal.until(idle)
  terminal.type(CTRL_C)
  await terminal.until("--continue c1")
  terminal.type("exit\r")
  await terminal.exited
})

test("only the last messages of a long conversation are shown, with how many were left out", async () => {
  const { sit, run } = await sitting()
  await run("run", "spawn", "--harness", "direct", "-p", "message 0")
  for (let turn = 1; turn <= 12; turn += 1)
    await run("run", "continue", "-p", `message ${turn}`, "--space", "s1")
  const terminal = sit(["--continue", "c1"])
  const shown = await terminal.until("… 6 earlier messages are not shown")
  expect(shown).not.toMatch(/message 2$/m)
  await terminal.until("message 12")
  terminal.type(CTRL_D)
  await terminal.exited
})

verifies("direct.commands", async () => {
  const { sit, asked } = await sitting({
    script: [
      { when: { system: "summar" }, repeat: true, text: "## Goal\nA summary." },
      { text: "word ".repeat(3000) },
      { text: "short" },
    ],
  })
  const terminal = sit()
  await terminal.until(READY)
  terminal.type("/help\r")
  await terminal.until("/compact         make room")
  terminal.type("/model\r")
  await terminal.until(/\* anthropic\/claude-sonnet-4-6\n[^]* {2}anthropic\/claude-opus-4-6\n/)
  terminal.type("/model claude-opus-4-6\r")
  await terminal.until("Model: anthropic/claude-opus-4-6")
  terminal.type("/model\r")
  await terminal.until("* anthropic/claude-opus-4-6")
  terminal.type("/model direct/anthropic/claude-haiku-4-5\r")
  await terminal.until("Model: anthropic/claude-haiku-4-5")
  terminal.type("/model direct/anthropic/claude-opus-4-6\r")
  await terminal.until(/haiku[^]*Model: anthropic\/claude-opus-4-6/)
  terminal.type("/model nothing\r")
  await terminal.until("ERROR [MODEL_NOT_FOUND]: Model nothing is not configured.")
  terminal.type("/agent\r")
  await terminal.until(/\* build\n {2}plan\n/)
  terminal.type("/agent plan\r")
  await terminal.until("Agent: plan")
  terminal.type("/nonsense at all\r")
  await terminal.until("There is no command /nonsense, and nothing was sent.")
  terminal.type("/compact\r")
  await terminal.until(/nothing to compact|no older turn/)
  expect(asked()).toEqual([])
  for (const words of ["one", "two"]) {
    terminal.type(`${words}\r`)
    await terminal.until(new RegExp(`> ${words}\n[^]*tokens in[^]*\n>$`))
  }
  expect(asked().map((body) => /"model":"([^"]+)"/.exec(body)?.[1])).toEqual([
    "claude-opus-4-6",
    "claude-opus-4-6",
  ])
  terminal.type("/compact\r")
  await terminal.until(/Compacted: [\d,]+ -> [\d,]+ tokens\./)
  terminal.type("/exit\r")
  expect(await terminal.exited).toEqual({ code: 0, signal: 0 })
})

verifies("direct.permission-keys", async () => {
  const call = { name: "bash", input: { command: "echo again" } }
  const { sit, asked } = await sitting({
    script: [
      { tools: [{ name: "bash", input: { command: "rm everything" } }] },
      { text: "Not then." },
      { tools: [{ name: "bash", input: { command: "rm more" } }] },
      { text: "Nor that." },
      { tools: [call] },
      { tools: [call] },
      { text: "Both done." },
    ],
  })
  const terminal = sit()
  await terminal.until(READY)
  terminal.type("one\r")
  await terminal.until("rm everything (waits")
  terminal.type("n")
  await terminal.until("✗ bash rm everything")
  await terminal.until("Not then.")
  await terminal.until(idle)
  terminal.type("two\r")
  await terminal.until("rm more (waits")
  terminal.type("f")
  await terminal.until("why?")
  terminal.type("Because it is mine.\r")
  await terminal.until("Nor that.")
  await terminal.until(idle)
  terminal.type("three\r")
  await terminal.until("echo again (waits")
  terminal.type("a")
  await terminal.until("Both done.")
  expect(terminal.text()).toContain("Allowed from now on in this project.")
  expect(asked()[3]).toContain("Because it is mine.")
  terminal.type(CTRL_D)
  await terminal.exited
})

test("what must survive a compaction is in the next request, from a folder inside the project too", async () => {
  const { sit, project, asked } = await sitting({
    script: [
      { when: { system: "summar" }, repeat: true, text: "## Goal\nA summary that forgets." },
      { text: "word ".repeat(3000) },
      { text: "short" },
      { text: "Going on." },
    ],
  })
  mkdirSync(join(project, ".git"))
  mkdirSync(join(project, "deep"))
  writeFileSync(
    join(project, "SESSION.md"),
    "[Focus: move-the-lighthouse] 2026-04-01\n- Decision: keep the old lamp.\n",
  )
  const terminal = sit(["--harness", "direct", "--cwd", "deep"])
  await terminal.until(READY)
  for (const words of ["one", "two"]) {
    terminal.type(`${words}\r`)
    await terminal.until(new RegExp(`> ${words}\n[^]*tokens in[^]*\n>$`))
  }
  expect(asked().join("")).not.toContain("keep the old lamp")
  terminal.type("/compact\r")
  await terminal.until(/Compacted: [\d,]+ -> [\d,]+ tokens\./)
  terminal.type("three\r")
  await terminal.until("Going on.")
  expect(asked().at(-1)).toContain("keep the old lamp")
  terminal.type(CTRL_D)
  await terminal.exited
})

test("Ctrl-C stops a compaction as well, and the history is as it was", async () => {
  const { sit, asked } = await sitting({
    script: [
      { when: { system: "summar" }, repeat: true, hold: "start", text: "never" },
      { text: "word ".repeat(3000) },
      { text: "short" },
      { text: "Still all there." },
    ],
  })
  const terminal = sit()
  await terminal.until(READY)
  for (const words of ["one", "two"]) {
    terminal.type(`${words}\r`)
    await terminal.until(new RegExp(`> ${words}\n[^]*tokens in[^]*\n>$`))
  }
  terminal.type("/compact\r")
  await terminal.until("… compacting")
  await vi.waitFor(() => expect(asked()).toHaveLength(3), 10_000)
  terminal.type(CTRL_C)
  await terminal.until("Compaction failed")
  await terminal.until(idle)
  terminal.type("three\r")
  await terminal.until("Still all there.")
  expect(asked().at(-1)).toContain("word word word")
  terminal.type(CTRL_D)
  expect((await terminal.exited).code).toBe(0)
})

test("on a dumb terminal Ctrl-C stops the work as well, and a second one leaves", async () => {
  const { sit, asked } = await sitting({
    script: [{ text: "one two three four", chunks: 4, hold: "middle" }],
  })
  const terminal = sit(undefined, { env: { TERM: "dumb" } })
  await terminal.until(READY)
  terminal.type("go\r")
  await vi.waitFor(() => expect(asked()).toHaveLength(1), 10_000)
  terminal.type(CTRL_C)
  await terminal.until("Interrupted.")
  await terminal.until(/\n>$/)
  terminal.type(CTRL_C)
  expect(await terminal.exited).toEqual({ code: 0, signal: 0 })
})

test("a fork is a separate chat with the history so far, and profiles are agents to change to", async () => {
  const { sit, run, project, asked } = await sitting({ script: [{ text: "First." }, { text: "Forked." }] })
  mkdirSync(join(project, ".meridian/agents"), { recursive: true })
  writeFileSync(join(project, ".meridian/agents/poet.md"), "---\nname: poet\n---\nSpeak in verse only.\n")
  await run("run", "spawn", "--harness", "direct", "-p", "one")
  const terminal = sit(["--continue", "c1", "--fork"])
  await terminal.until("First.")
  terminal.type("/agent\r")
  await terminal.until(/\* build\n {2}plan\n {2}poet\n/)
  terminal.type("/agent poet\r")
  await terminal.until("Agent: poet")
  terminal.type("two\r")
  await terminal.until("Forked.")
  terminal.type(CTRL_D)
  await terminal.exited
  await terminal.until("meridian start --space s1 --continue c2")
  expect(asked()[1]).toMatch(/First\.[^]*two/)
  expect(asked()[1]).toContain("Speak in verse only.")
  expect((await run("session", "list")).stdout.trim().split("\n")).toHaveLength(2)
})

test("a question disappears with its turn, and comes back if it was only left", async () => {
  const command = "echo from-before"
  const { sit } = await sitting({
    script: [
      { tools: [{ name: "bash", input: { command: "echo stopped" } }] },
      { tools: [{ name: "bash", input: { command } }] },
      { text: "It was answered." },
    ],
  })
  const first = sit()
  await first.until(READY)
  first.type("one\r")
  await first.until("[y] once")
  first.type(CTRL_C)
  await first.until("✗ bash echo stopped")
  expect(await first.until(idle)).not.toContain("Allow bash?")
  first.type("two\r")
  await first.until("[y] once")
  first.type(CTRL_D)
  expect(await first.exited).toEqual({ code: 0, signal: 0 })
  const second = sit(["--continue"])
  const asking = await second.until("[y] once")
  expect(asking).toMatch(/Allow bash\?\n {2}echo from-before\n/)
  second.type("y")
  await second.until("It was answered.")
  expect(second.text()).toContain("✓ bash")
  second.type(CTRL_D)
  expect(await second.exited).toEqual({ code: 0, signal: 0 })
})

verifies("question.terminal", async () => {
  const ask = (question: string) => ({
    tools: [{ name: "question", input: { question, choices: [{ label: "red" }, { label: "blue" }] } }],
  })
  const { sit, asked } = await sitting({
    script: [ask("Which colour?"), ask("And which other?"), { text: "Then I choose." }, { text: "Bye." }],
  })
  const terminal = sit()
  await terminal.until(READY)
  terminal.type("paint it\r")
  const shown = await terminal.until("/decline leaves it unanswered.")
  expect(shown).toMatch(/Asked: Which colour\?\n1\. red\n2\. blue\nType a number or an answer/)
  terminal.type("2\r")
  await terminal.until("Asked: And which other?")
  expect(asked()[1]).toContain("The user answered: blue")
  terminal.type(CTRL_D)
  expect(await terminal.exited).toEqual({ code: 0, signal: 0 })
  const again = sit(["--continue"])
  await again.until("/decline leaves it unanswered.")
  again.type("/decline\r")
  await again.until("Then I choose.")
  expect(asked()[2]).toContain("The user declined to answer this question.")
  await again.until(idle)
  again.type("3\r")
  await again.until("Bye.")
  again.type(CTRL_D)
  expect(await again.exited).toEqual({ code: 0, signal: 0 })
})

test("the content of a question is shown: its text at once, and all of it by v", async () => {
  const content = Array.from({ length: 40 }, (_, index) => `row ${index}`).join("\n")
  const { sit } = await sitting({
    script: [{ tools: [{ name: "write", input: { path: "a.txt", content } }] }, { text: "Written." }],
  })
  const terminal = sit()
  await terminal.until(READY)
  terminal.type("go\r")
  const asking = await terminal.until("[y] once")
  expect(asking).toContain("+ row 1\n")
  expect(asking).not.toContain("row 39")
  terminal.type("v")
  await terminal.until("+ row 39")
  terminal.type("y")
  await terminal.until("Written.")
  terminal.type(CTRL_D)
  expect((await terminal.exited).code).toBe(0)
})

test("a missing session is reported, without advice to continue it", async () => {
  const { sit, project, run } = await sitting()
  await run("run", "spawn", "--harness", "direct", "-p", "x")
  for (const name of readdirSync(join(project, ".meridian")))
    if (name.startsWith("engine.sqlite")) rmSync(join(project, ".meridian", name))
  const terminal = sit(["--continue", "c1"])
  expect((await terminal.exited).code).toBe(1)
  expect(await terminal.until("ERROR [SESSION_NOT_FOUND]")).not.toContain("Continue this chat")
})

test("a paste of a whole file is taken at once", async () => {
  const { sit, asked } = await sitting()
  const terminal = sit()
  await terminal.until(READY)
  const file = Array.from({ length: 4000 }, (_, index) => `line ${index} of a long file`).join("\r")
  terminal.type(`${PASTE_ON}${file}${PASTE_OFF}`)
  await terminal.until(/line 3999 of a long file$/)
  terminal.type("\r")
  await vi.waitFor(() => expect(asked()).toHaveLength(1), 20_000)
  expect(asked()[0]).toContain("line 0 of a long file\\nline 1 of")
  terminal.type(CTRL_D)
  expect((await terminal.exited).code).toBe(0)
})

test("text being typed is not taken for an answer", async () => {
  const { sit, provider, asked } = await sitting({
    script: [{ hold: "start", tools: [{ name: "bash", input: { command: "echo no" } }] }, { text: "Good." }],
  })
  const terminal = sit()
  await terminal.until(READY)
  terminal.type("go\r")
  await terminal.until("Working;")
  terminal.type("happil")
  await terminal.until("> happil")
  await vi.waitFor(() => expect(asked()).toHaveLength(1))
  provider.release()
  await terminal.until("Send or clear (Ctrl-U) what you are writing, then answer.")
  terminal.type("y")
  await terminal.until("> happily")
  expect(terminal.text()).toContain("Allow bash?")
  terminal.type("\u0015")
  await terminal.until("[y] once")
  terminal.type("y")
  await terminal.until("Good.")
  terminal.type(CTRL_D)
  await terminal.exited
})

verifies("direct.steer", async () => {
  const { sit, provider, asked } = await sitting({
    script: [
      { hold: "start", tools: [{ name: "read", input: { path: "README.md" } }] },
      { text: "Steered." },
      { text: "Queued done." },
    ],
  })
  const terminal = sit()
  await terminal.until(READY)
  terminal.type("begin\r")
  await terminal.until("Working;")
  await vi.waitFor(() => expect(asked()).toHaveLength(1), 10_000)
  terminal.type("also this\r")
  await terminal.until("(joins the current work)")
  terminal.type("/queue and later that\r")
  await terminal.until("(waits until this is done)")
  provider.release()
  await terminal.until("Queued done.")
  await terminal.until(idle)
  const [first = "", second = "", third = ""] = asked()
  expect(
    [first, second, third].map((body) => [body.includes("also this"), body.includes("and later that")]),
  ).toEqual([
    [false, false],
    [true, false],
    [true, true],
  ])
  terminal.type(CTRL_D)
  await terminal.exited
})

test("a failure is reported in one sentence with what to do, and the conversation continues", async () => {
  const { sit } = await sitting({ script: [{ error: "auth" }, { text: "Better now." }] })
  const terminal = sit()
  await terminal.until(READY)
  terminal.type("one\r")
  await terminal.until(/ERROR \[MODEL_FAILED\]: The model failed \(authentication\): [^]+\sNext: fix/)
  await terminal.until(idle)
  terminal.type("two\r")
  await terminal.until("Better now.")
  expect(terminal.text().split("ERROR [")).toHaveLength(2)
  terminal.type(CTRL_D)
  expect((await terminal.exited).code).toBe(0)
})

verifies("direct.plain-output", async () => {
  const evil = "\u001B]0;owned\u0007\u001B[2J\u001B[31mred\u001B[0m \u009B5n\u0007 \u202Eback"
  const { sit } = await sitting({
    script: [
      {
        text: `Look: ${evil} end.`,
        chunks: 30,
        tools: [{ name: "bash", input: { command: `printf '${evil}'` } }],
      },
      { text: "Done." },
    ],
  })
  const terminal = sit()
  await terminal.until(READY)
  terminal.type("go\r")
  await terminal.until("[y] once")
  terminal.type("y")
  await terminal.until("Done.")
  expect(terminal.text()).toContain("end.")
  for (const forbidden of ["\u001B]0;", "\u001B[2J", "\u001B[31mred", "\u0007", "\u009B", "\u202E"])
    expect(terminal.bytes()).not.toContain(forbidden)
  terminal.type(CTRL_D)
  await terminal.exited
})

test("a paste with newlines is one message, sent by Enter", async () => {
  const { sit, asked } = await sitting()
  const terminal = sit()
  await terminal.until(READY)
  terminal.type(`${PASTE_ON}first line\rsecond line\r家 wide e\u0301${PASTE_OFF}`)
  await terminal.until(/> first line\n {2}second line\n {2}家 wide e\u0301$/u)
  expect(asked()).toEqual([])
  terminal.type(" end\r")
  await terminal.until("echo: first line")
  expect(asked()).toHaveLength(1)
  expect(asked()[0]).toContain("first line\\nsecond line\\n家 wide e\u0301 end")
  terminal.type(CTRL_D)
  await terminal.exited
})

test("it stays readable on a narrow terminal and through changes of its size", async () => {
  const { sit } = await sitting({
    script: [
      { text: "Some words that do not fit into one row of so narrow a terminal, 家家家家家家家家家家." },
    ],
  })
  const terminal = sit(undefined, { columns: 24, rows: 8 })
  await terminal.until("/help shows")
  terminal.type("a question longer than the row\r")
  const shown = await terminal.until(/tokens in/)
  expect(shown).toContain("Some words that do not\nfit into one row of so")
  expect(shown).toMatch(/家家家家\n?家/)
  terminal.type("one two three")
  await terminal.until(/> one two three$/)
  terminal.resize(60, 20)
  terminal.type(" four")
  await terminal.until(/\n> one two three four$/)
  terminal.resize(20, 6)
  terminal.type(" five")
  await terminal.until(/> one two three fou\n {2}r five$/)
  terminal.type(`${CTRL_C}${CTRL_C}`)
  expect((await terminal.exited).code).toBe(0)
})

test("NO_COLOR leaves no colour, and a dumb terminal gets lines only", async () => {
  const { sit } = await sitting({
    script: [
      { text: "Working on it.", tools: [{ name: "bash", input: { command: "echo dumb" } }] },
      { text: "All done." },
    ],
  })
  const grey = sit(undefined, { env: { NO_COLOR: "1" } })
  await grey.until(READY)
  grey.type(CTRL_D)
  await grey.exited
  // oxlint-disable-next-line eslint/no-control-regex -- the sequences of colours are what is looked for
  expect(grey.bytes()).not.toMatch(/\u001B\[[0-9;]*m/)
  const dumb = sit(undefined, { env: { TERM: "dumb" } })
  await dumb.until(READY)
  dumb.type("gox")
  await dumb.until(/> gox$/)
  dumb.type("\u007F")
  await dumb.until(/> go$/)
  dumb.type("\r")
  await dumb.until("[y] once")
  dumb.type("y")
  await dumb.until("All done.")
  await dumb.until(/tokens in/)
  dumb.type(CTRL_D)
  expect((await dumb.exited).code).toBe(0)
  expect(dumb.bytes()).not.toContain("\u001B")
  expect(dumb.text()).toMatch(/Working on it\.\n… bash echo dumb/)
})

test.each([
  ["SIGTERM", 143],
  ["SIGHUP", 129],
])("%s ends it with the terminal as it was and the turn settled", async (signal, code) => {
  const { shell, run, project } = await sitting({
    script: [
      { text: "Before it", tools: [{ name: "bash", input: { command: "sleep 300 & echo $! > pid; wait" } }] },
    ],
  })
  const terminal = shell()
  terminal.type(
    `stty -g > before; ${START} --harness direct --permission danger -p go; echo "code-"$?; stty -g > after; cmp before after && echo the-''same\r`,
  )
  await terminal.until("… bash sleep 300")
  await vi.waitFor(() => expect(readPid(project)).toBeDefined(), 10_000)
  process.kill(startedIn(project), signal)
  await terminal.until(`code-${code}`)
  await terminal.until("the-same")
  await vi.waitFor(() => expect(existsSync(`/proc/${readPid(project)}`)).toBe(false), 10_000)
  const sessions = await run("session", "list")
  expect(sessions.stdout).toMatch(/ interrupted /)
  terminal.type("exit\r")
  await terminal.exited
})

/** The process id of `meridian start` in this folder. */
const startedIn = (project: string): number => {
  const found = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .find((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
        return words[2] === "start" && readlinkSync(`/proc/${pid}/cwd`) === project
      } catch {
        return false
      }
    })
  return Number(found)
}

const readPid = (project: string): number | undefined => {
  try {
    const pid = Number(readFileSync(join(project, "pid"), "utf8"))
    return pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}

test("Ctrl-Z returns the terminal to the shell, and fg takes it back", async () => {
  const { shell } = await sitting()
  const terminal = shell()
  terminal.type(`stty -g > before; ${START} --harness direct\r`)
  await terminal.until(READY)
  terminal.type("a draft")
  await terminal.until("> a draft")
  terminal.type("\u001A")
  await terminal.until(/Stopped/)
  terminal.type("stty -g > stopped; cmp before stopped && echo the-''same\r")
  await terminal.until("the-same")
  terminal.type("fg\r")
  await terminal.until(/\n> a draft$/)
  terminal.type(" and more\r")
  await terminal.until("echo: a draft and more")
  await terminal.until(idle)
  terminal.type(CTRL_D)
  await terminal.until("--continue c1")
  terminal.type("exit\r")
  await terminal.exited
})

verifies("direct.with-server", async () => {
  const { sit, project, env } = await sitting({
    script: [
      { tools: [{ name: "bash", input: { command: "echo allowed-from-afar" } }] },
      { text: "Allowed." },
      { text: "To the page." },
      { text: "To the terminal." },
    ],
  })
  const terminal = sit()
  await terminal.until(READY)
  const server = await startServer(project, ["--port", "0"], env)
  try {
    const client = createClient({ url: server.url, token: server.token })
    terminal.type("one\r")
    await terminal.until("[y] once")
    const [session] = (await client.sessions.list({})).items
    const sessionID = session?.id ?? ""
    expect(session).toMatchObject({ status: "waiting", title: "one" })
    const [request] = (await client.sessions.permissions({ sessionID })).items
    await client.permissions.reply({ requestID: request?.id ?? "", reply: "once" })
    await terminal.until("Allowed.")
    await terminal.until(idle)
    expect(terminal.text()).toContain("✓ bash echo allowed-from-afar")
    await client.sessions.prompt({ sessionID, prompt: { text: "from the page" } })
    await terminal.until("> from the page (sent from elsewhere)")
    await terminal.until("To the page.")
    terminal.type("and from here\r")
    await terminal.until("To the terminal.")
    terminal.type(CTRL_D)
    expect((await terminal.exited).code).toBe(0)
  } finally {
    await server.end("SIGTERM")
  }
})

test("without a terminal it says so, and records nothing", async () => {
  const { run } = await sitting()
  const ran = await run("start", "--harness", "direct")
  expect([ran.code, ran.stdout, ran.stderr]).toEqual([
    2,
    "",
    `ERROR [TERMINAL_REQUIRED]: A conversation needs a terminal, and stdin is not one. Next: use 'meridian run spawn -m direct/MODEL -p "..."' without a terminal.\n`,
  ])
  expect(document(await run("space", "list", "--json"))).toEqual({ spaces: [] })
})

test("a model that cannot be used is refused before anything is recorded", async () => {
  const { sit, run } = await sitting()
  const terminal = sit(["--harness", "direct", "-m", "nothing/here"])
  expect((await terminal.exited).code).toBe(1)
  await terminal.until("ERROR [MODEL_NOT_USABLE]: Model 'nothing/here' cannot be used")
  expect(document(await run("space", "list", "--json"))).toEqual({ spaces: [] })
})

verifies("direct.daily-use", async () => {
  const { sit, project, asked } = await sitting({
    script: [
      { tools: [{ name: "write", input: { path: "one.txt", content: "1" } }] },
      { tools: [{ name: "write", input: { path: "two.txt", content: "2" } }] },
      { text: "Both written.", usage: { input: 1_200, output: 30 } },
      { text: "Held", chunks: 2, hold: "middle", usage: { input: 10, output: 1 } },
    ],
  })
  writeFileSync(join(project, "shot.png"), PNG)
  const terminal = sit()
  await terminal.until(READY)
  terminal.type("/hel\t")
  await terminal.until("> /help")
  terminal.type("\u0015look at @sho\t")
  await terminal.until("> look at @shot.png")
  terminal.type("\r")
  await terminal.until("(with shot.png)")
  await terminal.until("[s] all edits of this session")
  terminal.type("s")
  await terminal.until("Both written.")
  expect([
    readFileSync(join(project, "one.txt"), "utf8"),
    readFileSync(join(project, "two.txt"), "utf8"),
  ]).toEqual(["1", "2"])
  expect(asked()[0]).toContain(PNG.toString("base64"))
  await terminal.until(idle)
  terminal.type("again\r")
  // The clock of the working line ticks on its own.
  await terminal.until(/Working; .* [1-9]\d*s/)
  terminal.type(CTRL_C)
  await terminal.until("Interrupted.")
  await terminal.until(idle)
  terminal.type("/new\r")
  await terminal.until((text) => text.split(READY).length === 3)
  terminal.type("/sessions\r")
  await terminal.until("/sessions NUMBER opens one.")
  terminal.type("/sessions 2\r")
  await terminal.until((text) => text.split("Both written.").length >= 3)
  terminal.type(CTRL_D)
  expect((await terminal.exited).code).toBe(0)
})

verifies("direct.images", async () => {
  const { sit, project, asked, env } = await sitting({ script: [{ text: "I see two." }, { text: "None." }] })
  const programs = join(project, "programs")
  mkdirSync(programs)
  const clipboard = (script: string): void =>
    writeFileSync(join(programs, "wl-paste"), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  clipboard("exit 1")
  writeFileSync(join(project, "my shot.png"), PNG)
  writeFileSync(join(project, "fake.png"), "no picture")
  const terminal = sit(undefined, {
    env: { PATH: `${programs}:${env["PATH"] ?? ""}`, WAYLAND_DISPLAY: "wayland-0" },
  })
  await terminal.until(READY)
  terminal.type(CTRL_V)
  await terminal.until("No image can be read from the clipboard here.")
  writeFileSync(join(programs, "screenshot"), OTHER_PNG)
  clipboard(`[ "$3" = image/png ] && exec cat '${join(programs, "screenshot")}'`)
  terminal.type(`look at ${CTRL_V}`)
  await terminal.until(/> look at \[image 1\]$/)
  // The text a terminal sends for a dropped file, and for a paste without text.
  terminal.type(`${PASTE_ON}'${join(project, "my shot.png")}'${PASTE_OFF} fake.png ${PASTE_ON}${PASTE_OFF}`)
  await terminal.until("[image 2]")
  terminal.type("\u0017\u0017\r")
  await terminal.until("fake.png is not sent: it is no PNG, JPEG, GIF or WebP.")
  await terminal.until("(with image 1, my shot.png)")
  await terminal.until("I see two.")
  const [body = ""] = asked()
  expect(body).toContain(PNG.toString("base64"))
  expect(body.split(OTHER_PNG.toString("base64"))).toHaveLength(2)
  await terminal.until(idle)
  terminal.type("and now?\r")
  await terminal.until("None.")
  terminal.type(CTRL_D)
  expect((await terminal.exited).code).toBe(0)
})

test("a terminal of 10 columns holds", async () => {
  const { sit } = await sitting({
    script: [
      { text: "I look.", tools: [{ name: "bash", input: { command: "echo from a narrow place" } }] },
      { text: "| a | b |\n| - | - |\n| one | two |\n\n```ts\nconst narrow = true\n```" },
    ],
  })
  const terminal = sit(undefined, { columns: 10, rows: 12 })
  await terminal.until("leaves.")
  terminal.type("0123456789abcdefghij")
  await terminal.until(/\n> 0123456\n {2}789abcd\n {2}efghij$/)
  terminal.type("\u0001\u000bgo\r")
  await terminal.until("y/a/n/f,")
  const asked = terminal.text()
  expect(asked.split("> go")).toHaveLength(2)
  terminal.type("y")
  await terminal.until("narrow")
  await terminal.until(idle)
  for (const row of terminal.text().split("\n")) expect(row.length).toBeLessThanOrEqual(9)
  expect(terminal.text().split("I look.")).toHaveLength(2)
  terminal.type(CTRL_D)
  expect((await terminal.exited).code).toBe(0)
})

verifies("direct.undo", async () => {
  const { sit, project, asked, run } = await sitting({
    script: [
      {
        tools: [
          { name: "edit", input: { path: "README.md", oldString: "# lab", newString: "# labs" } },
          { name: "write", input: { path: "made.txt", content: "made" } },
        ],
      },
      { text: "Changed." },
      { text: "I see." },
      { text: "New one." },
    ],
  })
  const terminal = sit(["--harness", "direct", "--permission", "workspace-write"])
  await terminal.until(READY)
  terminal.type("change it\r")
  await terminal.until("Changed.")
  await terminal.until(idle)
  expect(readFileSync(join(project, "README.md"), "utf8")).toBe("# labs\n")
  const files = () => [
    readFileSync(join(project, "README.md"), "utf8"),
    existsSync(join(project, "made.txt")),
  ]
  const emptyLine = "\u0001\u000b"
  terminal.type("/undo\r")
  // The last words are there for rewording.
  await terminal.until(/removed: made\.txt\n> change it$/)
  expect(files()).toEqual(["# lab\n", false])
  terminal.type(`${emptyLine}/redo\r`)
  await terminal.until("added: made.txt")
  expect(files()).toEqual(["# labs\n", true])
  writeFileSync(join(project, "README.md"), "# mine\n")
  terminal.type("/undo\r")
  await terminal.until("Overwrite them?")
  terminal.type("no\r")
  await terminal.until("Nothing was taken back.")
  expect(files()).toEqual(["# mine\n", true])
  terminal.type("/undo files\r")
  await terminal.until((text) => text.split("Overwrite them?").length === 3)
  terminal.type("yes\r")
  await terminal.until((text) => text.split("removed: made.txt").length === 3)
  expect(files()).toEqual(["# lab\n", false])
  terminal.type("and now\r")
  await terminal.until("I see.")
  expect(asked().at(-1)).toContain("I have taken back your last changes to these files: README.md, made.txt.")
  await terminal.until(idle)
  terminal.type("/new\r")
  await terminal.until((text) => text.split(READY).length === 3)
  terminal.type("hello\r")
  await terminal.until("New one.")
  await terminal.until(idle)
  terminal.type(CTRL_D)
  expect((await terminal.exited).code).toBe(0)
  const log = readFileSync(join(project, ".meridian/.spaces/s1/sessions.jsonl"), "utf8")
  const [launched, moved] = [...log.matchAll(/"harness_session_id":"([^"]+)"/g)].map(([, id]) => id)
  const planned = document(await run("start", "--continue", "c1", "--space", "s1", "--dry-run", "--json"))
  expect(JSON.stringify(planned)).toContain(`"${moved}"`)
  expect(moved).not.toBe(launched)
})

verifies("direct.take-up", async () => {
  const { sit, project, env, asked } = await sitting({
    script: [{ text: "In the terminal." }, { text: "In another." }, { text: "Again." }],
  })
  const server = await startServer(project, ["--port", "0"], env)
  const client = createClient({ url: server.url, token: server.token })
  await client.sessions.create({ id: "ses_page", location: { directory: project } })
  await client.sessions.prompt({ sessionID: "ses_page", prompt: { text: "from the page" }, resume: false })
  await server.end("SIGTERM")
  const none = sit(["--continue", "ses_none"])
  expect((await none.exited).code).toBe(1)
  await none.until("ERROR [CHAT_NOT_FOUND]")
  const second = sit(["--continue", "ses_page"])
  await second.until(READY)
  second.type("go on\r")
  await second.until("In the terminal.")
  expect(asked()[0]).toContain("from the page")
  await second.until(idle)
  second.type(CTRL_D)
  await second.exited
  await second.until("Continue this chat with: meridian start --space s1 --continue c1")
  const third = sit(["--harness", "direct"])
  await third.until(READY)
  third.type("elsewhere\r")
  await third.until("In another.")
  await third.until(idle)
  third.type(CTRL_D)
  await third.exited
  const fourth = sit(["--continue"])
  await fourth.until(/ 1 s1 c2 .*direct.*\n 2 s1 c1 .*direct[^]*Continue which\? \[1\]/)
  fourth.type("2\r")
  await fourth.until("In the terminal.")
  fourth.type("more\r")
  await fourth.until("Again.")
  expect(asked()[2]).toContain("go on")
  await fourth.until(idle)
  fourth.type(CTRL_D)
  expect((await fourth.exited).code).toBe(0)
  const fifth = sit(["--continue"])
  await fifth.until("Continue which? [1]")
  fifth.type("9\r")
  expect((await fifth.exited).code).toBe(2)
  await fifth.until("None was chosen.")
})
