import { execFileSync } from "node:child_process"
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import * as fc from "fast-check"
import { afterEach, beforeEach, expect, test } from "vitest"

import type { LedgerState } from "../domain/ledger/ledger-state.ts"
import { readTranscript, type TranscriptQuery } from "./read-transcript.ts"

let folder = ""
let path = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "meridian-transcript-"))
  path = join(folder, "t.jsonl")
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const memory = (): string => join(folder, "memory")
const read = (more: Partial<TranscriptQuery> = {}) => readTranscript({ path, folder: memory(), ...more })
const ledgerOf = (more: Partial<TranscriptQuery> = {}): LedgerState => {
  const reading = read(more)
  if (reading.kind === "refused") throw new Error(reading.reason)
  return reading.ledger
}
const bytesOf = (): number => {
  const reading = read()
  return reading.kind === "read" ? reading.bytes : -1
}
const prompts = (state: LedgerState): readonly string[] => state.prompts.map(({ text }) => text)

const user = (uuid: string, parentUuid: string | null, text: string): string =>
  `${JSON.stringify({ type: "user", uuid, parentUuid, sessionId: "s1", cwd: folder, timestamp: "2026-01-01T00:00:00Z", message: { role: "user", content: text } })}\n`
const agent = (uuid: string, parentUuid: string, text: string): string =>
  `${JSON.stringify({ type: "assistant", uuid, parentUuid, sessionId: "s1", message: { id: `m-${uuid}`, role: "assistant", model: "opus", content: [{ type: "text", text }] } })}\n`

const FILES = ["claude", "codex"].map((format) =>
  readFileSync(join(import.meta.dirname, `../../../../test/fixture/sessions/${format}.jsonl`)),
)

test("read in any pieces, a transcript gives the ledger it gives as a whole", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...FILES),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 }),
      (file, cuts) => {
        rmSync(memory(), { recursive: true, force: true })
        writeFileSync(path, file)
        const whole = ledgerOf({ folder: join(folder, "other") })
        rmSync(join(folder, "other"), { recursive: true, force: true })
        // Cut anywhere, even inside a line or a character, as while a harness is writing.
        for (const cut of cuts.toSorted((left, right) => left - right)) {
          writeFileSync(path, file.subarray(0, Math.floor(cut * file.length)))
          read()
        }
        writeFileSync(path, file)
        expect(ledgerOf()).toEqual(whole)
      },
    ),
    { numRuns: 60 },
  )
})

test("a command to the host takes no place in the conversation, wherever the reading was cut", () => {
  const [file = Buffer.alloc(0)] = FILES
  writeFileSync(path, file)
  const whole = ledgerOf({ folder: join(folder, "other") })
  writeFileSync(path, file.subarray(0, file.indexOf('{"parentUuid":"98b253cf')))
  read()
  writeFileSync(path, file)
  expect(ledgerOf()).toEqual(whole)
})

test("the second look reads only what is new, and a torn last line waits until it is whole", () => {
  writeFileSync(path, user("a", null, "Start.") + agent("b", "a", "ok"))
  const size = statSync(path).size
  expect(bytesOf()).toBe(size)
  expect(bytesOf()).toBe(0)
  const next = user("c", "b", "Never touch x.")
  appendFileSync(path, next.slice(0, 40))
  expect(bytesOf()).toBe(0)
  appendFileSync(path, next.slice(40))
  expect(bytesOf()).toBe(next.length)
  expect(prompts(ledgerOf())).toEqual(["Start.", "Never touch x."])
})

test("a conversation that went back forgets what was said on the way it left", () => {
  writeFileSync(path, user("a", null, "Start.") + agent("b", "a", "ok") + user("c", "b", "Never touch x."))
  expect(prompts(ledgerOf())).toEqual(["Start.", "Never touch x."])
  appendFileSync(path, user("d", "b", "Never touch y."))
  expect(prompts(ledgerOf())).toEqual(["Start.", "Never touch y."])
  expect(prompts(ledgerOf({ folder: join(folder, "other") }))).toEqual(["Start.", "Never touch y."])
})

test.each([
  ["replaced by another", () => writeFileSync(path, user("z", null, "Other."))],
  ["cut short", () => truncateSync(path, user("a", null, "Start.").length)],
  [
    "moved away and written anew",
    () => {
      renameSync(path, `${path}.old`)
      writeFileSync(path, user("a", null, "Start!") + agent("b", "a", "ok") + user("c", "b", "Go on."))
    },
  ],
])("a file that was %s is read anew", (_, change) => {
  writeFileSync(path, user("a", null, "Start.") + agent("b", "a", "ok") + user("c", "b", "Go on."))
  read()
  change()
  expect(ledgerOf()).toEqual(ledgerOf({ folder: join(folder, "other") }))
})

test("a remembered state that is damaged, of another version or somebody else's is not believed", () => {
  writeFileSync(path, user("a", null, "Start."))
  const whole = ledgerOf()
  const [name = ""] = readdirSync(memory())
  const kept = readFileSync(join(memory(), name), "utf8")
  for (const text of [
    "",
    "{",
    kept.slice(0, -20),
    kept.replace('"version":1', '"version":9'),
    kept.replace(path, "/x"),
    "[]",
  ]) {
    writeFileSync(join(memory(), name), text)
    expect(ledgerOf()).toEqual(whole)
  }
})

test("a link, a pipe, a folder, nothing and a file of something else are refused at once", () => {
  const refused = (): string => {
    const reading = read()
    return reading.kind === "refused" ? reading.reason : "read"
  }
  expect(refused()).toBe("it does not exist")
  writeFileSync(`${path}.real`, user("a", null, "Start."))
  symlinkSync(`${path}.real`, path)
  expect(refused()).toBe("it is not a regular file")
  rmSync(path)
  execFileSync("mkfifo", [path])
  expect(refused()).toBe("it is not a regular file")
  rmSync(path)
  path = folder
  expect(refused()).toBe("it is not a regular file")
  path = join(folder, "notes.jsonl")
  writeFileSync(path, '{"a":1}\nno json\n')
  expect(refused()).toBe("it is not a transcript of a known harness")
  writeFileSync(path, "")
  expect(refused()).toBe("it is not a transcript of a known harness")
})

test("a damaged line is passed over and counted", () => {
  writeFileSync(path, `${user("a", null, "Start.")}{"type":"user","uu\n${user("b", "a", "Go on.")}`)
  expect(read()).toMatchObject({ kind: "read", warnings: ["transcript: 1 damaged line skipped"] })
  expect(prompts(ledgerOf())).toEqual(["Start.", "Go on."])
})

test("of a file larger than the bound the beginning and the end are read, and nothing is called invented", () => {
  const lines = Array.from({ length: 200 }, (_, at) =>
    user(`u${at}`, at === 0 ? null : `u${at - 1}`, `Message ${at}.`),
  )
  writeFileSync(path, lines.join(""))
  const reading = read({ limits: { headBytes: 500, tailBytes: 1000 } })
  expect(reading).toMatchObject({
    kind: "read",
    warnings: ["transcript: too large, its middle was not read"],
  })
  const state = ledgerOf()
  expect(state.task?.text).toBe("Message 0.")
  expect(state.prompts.at(-1)?.text).toBe("Message 199.")
  expect(state.prompts.length).toBeLessThan(20)
  expect(state.promptsDropped).toBe(1)
})

test("when there is no time, the newest part is still read", () => {
  const lines = Array.from({ length: 600 }, (_, at) =>
    user(`u${at}`, at === 0 ? null : `u${at - 1}`, `Message ${at}.`),
  )
  writeFileSync(path, lines.join(""))
  let now = 0
  const state = ledgerOf({
    clock: () => (now += 10_000),
    limits: { hurriedHeadBytes: 500, hurriedTailBytes: 1000 },
  })
  expect(state.task?.text).toBe("Message 0.")
  expect(state.prompts.at(-1)?.text).toBe("Message 599.")
})

test("what there was no time for is read by the next looks, each from where the one before it stopped", () => {
  const lines = Array.from({ length: 2_000 }, (_, at) =>
    user(`u${at}`, at === 0 ? null : `u${at - 1}`, `Never touch file${at}.`),
  )
  writeFileSync(path, lines.join(""))
  const whole = ledgerOf({ folder: join(folder, "other") })
  const limits = { hurriedHeadBytes: 500, hurriedTailBytes: 1000 }
  const hurried = (): LedgerState => {
    let looks = 0
    // There is time for only two checks of the clock, however much is left to read.
    return ledgerOf({ clock: () => ((looks += 1) > 3 ? 10_000 : 0), limits })
  }
  const states = Array.from({ length: 4 }, hurried)
  expect(states.map(({ promptsDropped }) => promptsDropped > 0)).toEqual([true, true, true, true])
  expect(states.map(({ prompts: said }) => said.at(-1)?.text)).toEqual(
    states.map(() => "Never touch file1999."),
  )
  expect(ledgerOf()).toEqual(whole)
})

test("no more states are kept than the bound, and what is kept is the user's alone", () => {
  for (let at = 0; at < 70; at += 1) {
    path = join(folder, `t${at}.jsonl`)
    writeFileSync(path, user("a", null, "Start."))
    read()
  }
  expect(readdirSync(memory()).length).toBeLessThanOrEqual(64)
  expect(statSync(memory()).mode & 0o777).toBe(0o700)
  expect(readdirSync(memory()).map((name) => statSync(join(memory(), name)).mode & 0o777)).toEqual(
    readdirSync(memory()).map(() => 0o600),
  )
})

test("two hooks at once leave one whole state", () => {
  writeFileSync(path, user("a", null, "Start."))
  const first = ledgerOf()
  appendFileSync(path, user("b", "a", "Go on."))
  // Another process that has read the same file overwrites our state with an older one. The next read continues from there.
  const [name = ""] = readdirSync(memory())
  const older = readFileSync(join(memory(), name), "utf8")
  const second = ledgerOf()
  writeFileSync(join(memory(), name), older)
  expect(ledgerOf()).toEqual(second)
  expect(first.prompts).toHaveLength(1)
})
