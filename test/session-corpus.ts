/**
 * Sessions of all harnesses in a private home, of any size, with phrases planted in known places. Words come from a
 * vocabulary as uneven as a real one. Everything follows from the seed.
 */
import { appendFileSync, closeSync, mkdirSync, openSync, writeSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"

import { createRandom } from "./sim/random.ts"

export type CorpusHarness = "claude" | "codex" | "opencode" | "pi"

export interface Planted {
  readonly phrase: string
  readonly harness: CorpusHarness
  readonly id: string
  readonly directory: string
}

export interface Corpus {
  readonly home: string
  readonly planted: readonly Planted[]
  readonly sessions: number
  readonly bytes: number
}

export interface CorpusOptions {
  readonly home: string
  /** The approximate total. */
  readonly bytes: number
  readonly phrases: number
  readonly sessionBytes?: number
  readonly seed?: number
}

const START = Date.parse("2026-06-01T08:00:00.000Z")
const HARNESSES: readonly CorpusHarness[] = ["claude", "codex", "opencode", "pi"]

type Said =
  | { readonly kind: "prompt"; readonly text: string }
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "tool"; readonly command: string; readonly output: string }

/** What one harness writes for a conversation. */
interface Writer {
  readonly file: string
  readonly begin: readonly unknown[]
  readonly lines: (said: Said, n: number, time: string) => readonly unknown[]
}

export const makeCorpus = (options: CorpusOptions): Corpus => {
  const random = createRandom(options.seed ?? 1)
  const speak = speaker(random)
  const sessionBytes = options.sessionBytes ?? 1_000_000
  const planted: Planted[] = []
  const opencode = openOpencode(options.home)
  let bytes = 0
  let sessions = 0
  const wanted = Math.max(HARNESSES.length, Math.ceil(options.bytes / sessionBytes))
  for (let index = 0; index < wanted; index += 1) {
    const harness = HARNESSES[index % HARNESSES.length] ?? "claude"
    const id = idOf(index)
    const directory = `/home/dev/project-${index % 17}`
    const due = Math.floor(((index + 1) * options.phrases) / wanted) - planted.length
    const phrases = Array.from({ length: due }, (_none, n) => `zebra quartz ${index} planted ${n} lighthouse`)
    planted.push(...phrases.map((phrase) => ({ phrase, harness, id, directory })))
    const conversation = talk({ bytes: sessionBytes, phrases, random, speak })
    bytes +=
      harness === "opencode"
        ? opencode.write({ id, directory, index }, conversation)
        : writeLines(WRITERS[harness](options.home, { id, directory, index }), conversation)
    sessions += 1
  }
  opencode.close()
  return { home: options.home, planted, sessions, bytes }
}

interface Meta {
  readonly id: string
  readonly directory: string
  readonly index: number
}

function* talk(options: {
  readonly bytes: number
  readonly phrases: readonly string[]
  readonly random: ReturnType<typeof createRandom>
  readonly speak: (words: number) => string
}): Generator<Said> {
  const { random, speak } = options
  const left = [...options.phrases]
  let bytes = 0
  while (bytes < options.bytes || left.length > 0) {
    const phrase = left.pop()
    const hidden = phrase === undefined ? "" : ` ${phrase} `
    const place = random.below(3)
    const said: Said[] = [
      { kind: "prompt", text: `${speak(30)}${place === 0 ? hidden : ""}${speak(10)}` },
      { kind: "answer", text: `${speak(120)}${place === 1 ? hidden : ""}${speak(40)}` },
      {
        kind: "tool",
        command: `grep -n ${speak(2)} src`,
        output: `${speak(random.below(1_200))}${place === 2 ? hidden : ""}${speak(200)}`,
      },
    ]
    for (const one of said) {
      bytes += one.kind === "tool" ? one.output.length : one.text.length
      yield one
    }
  }
}

/** Words as uneven as in a language: few are frequent, most are rare, and some lines look like code. */
const speaker = (random: ReturnType<typeof createRandom>): ((words: number) => string) => {
  const syllables = [
    "ka",
    "lo",
    "mi",
    "ren",
    "to",
    "sha",
    "vel",
    "dor",
    "an",
    "est",
    "ix",
    "pra",
    "qu",
    "ber",
  ]
  const vocabulary = Array.from({ length: 40_000 }, (_none, n) => {
    let word = ""
    for (let rest = n + 14; rest > 0; rest = Math.floor(rest / syllables.length))
      word += syllables[rest % syllables.length]
    return word
  })
  return (words) => {
    const said: string[] = []
    for (let n = 0; n < words; n += 1) {
      // About one word in seven is new within a part of the index. In a real session it is one in twelve.
      said.push(vocabulary[random.chance(0.93) ? random.below(1_000) : random.below(vocabulary.length)] ?? "")
      if (n % 12 === 11) said.push(`\n  const ${said.at(-1)} = await ${said.at(-2)}(${n})\n`)
    }
    return said.join(" ")
  }
}

const WRITERS: Readonly<Record<Exclude<CorpusHarness, "opencode">, (home: string, meta: Meta) => Writer>> = {
  claude: (home, { id, directory }) => {
    let parent: string | null = null
    const line = (type: string, n: number, time: string, message: unknown): unknown => {
      const uuid = `${id}-${n}-${type}`
      const made = { type, uuid, parentUuid: parent, sessionId: id, cwd: directory, timestamp: time, message }
      parent = uuid
      return made
    }
    return {
      file: join(home, ".claude/projects", directory.replaceAll("/", "-"), `${id}.jsonl`),
      begin: [],
      lines: (said, n, time) => {
        if (said.kind === "prompt") return [line("user", n, time, { role: "user", content: said.text })]
        const answer = (content: unknown) =>
          line("assistant", n, time, {
            id: `m${n}`,
            role: "assistant",
            model: "claude-sonnet-5",
            content: [content],
          })
        if (said.kind === "answer") return [answer({ type: "text", text: said.text })]
        return [
          answer({ type: "tool_use", id: `t${n}`, name: "Bash", input: { command: said.command } }),
          line("user", n + 0.5, time, {
            role: "user",
            content: [{ type: "tool_result", tool_use_id: `t${n}`, content: said.output }],
          }),
        ]
      },
    }
  },
  codex: (home, { id, directory, index }) => {
    const time = new Date(START + index * 60_000).toISOString()
    const item = (timestamp: string, payload: unknown): unknown => ({
      timestamp,
      type: "response_item",
      payload,
    })
    return {
      file: join(
        home,
        ".codex/sessions/2026/06/01",
        `rollout-${time.slice(0, 19).replaceAll(":", "-")}-${id}.jsonl`,
      ),
      begin: [{ timestamp: time, type: "session_meta", payload: { id, timestamp: time, cwd: directory } }],
      lines: (said, n, at) => {
        const message = (role: string, type: string, text: string): unknown =>
          item(at, { type: "message", role, content: [{ type, text }] })
        if (said.kind === "prompt") return [message("user", "input_text", said.text)]
        if (said.kind === "answer") return [message("assistant", "output_text", said.text)]
        return [
          item(at, {
            type: "function_call",
            name: "exec_command",
            call_id: `c${n}`,
            arguments: JSON.stringify({ cmd: said.command }),
          }),
          item(at, { type: "function_call_output", call_id: `c${n}`, output: said.output }),
        ]
      },
    }
  },
  pi: (home, { id, directory, index }) => {
    const time = new Date(START + index * 60_000).toISOString()
    let parent: string | null = null
    const line = (n: number, at: string, message: unknown): unknown => {
      const made = { type: "message", id: `e${n}`, parentId: parent, timestamp: at, message }
      parent = `e${n}`
      return made
    }
    return {
      file: join(
        home,
        ".pi/agent/sessions",
        `--${directory.replaceAll("/", "-")}--`,
        `${time.replaceAll(":", "-")}_${id}.jsonl`,
      ),
      begin: [{ type: "session", version: 3, id, timestamp: time, cwd: directory }],
      lines: (said, n, at) => {
        const text = (words: string) => [{ type: "text", text: words }]
        if (said.kind === "prompt") return [line(n, at, { role: "user", content: text(said.text) })]
        if (said.kind === "answer") return [line(n, at, { role: "assistant", content: text(said.text) })]
        return [
          line(n, at, {
            role: "assistant",
            content: [{ type: "toolCall", id: `t${n}`, name: "bash", arguments: { command: said.command } }],
          }),
          line(n + 0.5, at, {
            role: "toolResult",
            toolCallId: `t${n}`,
            toolName: "bash",
            content: text(said.output),
          }),
        ]
      },
    }
  },
}

const writeLines = (writer: Writer, conversation: Iterable<Said>): number => {
  mkdirSync(dirname(writer.file), { recursive: true })
  const file = openSync(writer.file, "w")
  let bytes = 0
  let pending = writer.begin.map((line) => `${JSON.stringify(line)}\n`).join("")
  let n = 0
  for (const said of conversation) {
    const time = new Date(START + n * 1_000).toISOString()
    for (const line of writer.lines(said, n, time)) pending += `${JSON.stringify(line)}\n`
    n += 1
    if (pending.length < 1_000_000) continue
    bytes += writeSync(file, pending)
    pending = ""
  }
  bytes += writeSync(file, pending)
  closeSync(file)
  return bytes
}

/** The tables of OpenCode 1.18 that hold conversations. */
export const openOpencode = (home: string) => {
  const file = join(home, ".local/share/opencode/opencode.db")
  mkdirSync(dirname(file), { recursive: true })
  appendFileSync(file, "")
  const database = new DatabaseSync(file)
  database.exec(`
    pragma journal_mode = wal;
    pragma synchronous = off;
    create table if not exists session (id text primary key, project_id text, parent_id text, slug text, directory text,
      title text, version text, revert text, time_created integer, time_updated integer, time_archived integer);
    create table if not exists message (id text primary key, session_id text, time_created integer,
      time_updated integer, data text);
    create table if not exists part (id text primary key, message_id text, session_id text, time_created integer,
      time_updated integer, data text);
    create index if not exists message_session_time_created_id_idx on message (session_id, time_created, id);
    create index if not exists part_message_id_id_idx on part (message_id, id);
    create index if not exists part_session_idx on part (session_id);`)
  const session = database.prepare(
    "insert or replace into session values (?, 'global', null, 'slug', ?, ?, '1.18.33', null, ?, ?, null)",
  )
  const message = database.prepare("insert into message values (?, ?, ?, ?, ?)")
  const part = database.prepare("insert into part values (?, ?, ?, ?, ?, ?)")
  return {
    file,
    write: ({ id, directory, index }: Meta, conversation: Iterable<Said>): number => {
      let bytes = 0
      let n = 0
      database.exec("begin")
      for (const said of conversation) {
        const time = START + n * 1_000
        const messageID = `msg_${id}_${String(n).padStart(6, "0")}`
        const role = said.kind === "prompt" ? "user" : "assistant"
        message.run(messageID, id, time, time, JSON.stringify({ role, time: { created: time } }))
        const data = JSON.stringify(
          said.kind === "tool"
            ? {
                type: "tool",
                tool: "bash",
                callID: `c${n}`,
                state: { status: "completed", input: { command: said.command }, output: said.output },
              }
            : { type: "text", text: said.text },
        )
        part.run(`prt_${id}_${String(n).padStart(6, "0")}`, messageID, id, time, time, data)
        bytes += data.length
        n += 1
      }
      session.run(id, directory, `Session ${index}`, START, START + n * 1_000)
      database.exec("commit")
      return bytes
    },
    /** Imports what `opencode export` printed. */
    writeExport: (exported: {
      readonly info: { readonly id: string; readonly directory: string; readonly title: string }
      readonly messages: readonly {
        readonly info: { readonly id: string; readonly time: { readonly created: number } }
        readonly parts: readonly { readonly id: string }[]
      }[]
    }): void => {
      const { id, directory, title } = exported.info
      session.run(id, directory, title, START, START)
      for (const { info, parts } of exported.messages) {
        message.run(info.id, id, info.time.created, info.time.created, JSON.stringify(info))
        for (const one of parts) part.run(one.id, info.id, id, START, START, JSON.stringify(one))
      }
    },
    remove: (id: string): void => {
      for (const table of ["part", "message"])
        database.prepare(`delete from ${table} where session_id = ?`).run(id)
      database.prepare("delete from session where id = ?").run(id)
    },
    close: () => database.close(),
  }
}

const idOf = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`
