/**
 * `meridian search` over sessions of four harnesses: the first index, single queries as a person asks them, an update after
 * new lines. Two GB by default; `--quick` takes a tenth, `--keep FOLDER` keeps the sessions there and reuses them.
 */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  appendFileSync,
  existsSync,
  globSync,
  readFileSync,
  readSync,
  openSync,
  closeSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { loadavg } from "node:os"
import { join, resolve } from "node:path"

import { makeCorpus, type Corpus } from "../../test/session-corpus.ts"
import { percentile, temporaryFolder } from "../engine/scene.ts"

const quick = process.argv.includes("--quick")
const BYTES = quick ? 200_000_000 : 2_000_000_000
const PHRASES = 100
const LIMITS = { cpuS: quick ? 6 : 60, memoryMb: 400, queryMs: 200 } as const

const keepAt = process.argv.indexOf("--keep")
const folder = temporaryFolder()
const home = keepAt === -1 ? join(folder.path, "home") : resolve(process.argv[keepAt + 1] ?? "")

const corpus = ((): Corpus => {
  const note = join(home, "corpus.json")
  if (existsSync(note)) return JSON.parse(readFileSync(note, "utf8")) as Corpus
  const made = makeCorpus({ home, bytes: BYTES, phrases: PHRASES })
  writeFileSync(note, JSON.stringify(made))
  return made
})()

interface Ran {
  readonly results: readonly {
    readonly harness: string
    readonly id: string
    readonly place?: string
    readonly continue: string
  }[]
  readonly wallMs: number
  readonly cpuMs: number
  readonly memoryMb: number
}

const search = (...words: readonly string[]): Ran => {
  const begun = performance.now()
  const ran = spawnSync(
    process.execPath,
    [
      "--require",
      resolve("bench/search/report.cjs"),
      resolve("packages/cli/dist/meridian.js"),
      "search",
      "--all",
      "--json",
      ...words,
    ],
    {
      cwd: folder.path,
      env: { HOME: home, XDG_CACHE_HOME: join(folder.path, "cache"), PATH: "/usr/bin:/bin" },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit", "pipe"],
      maxBuffer: 64 * 1024 * 1024,
    },
  )
  const wallMs = performance.now() - begun
  return { ...JSON.parse(ran.stdout), wallMs, ...JSON.parse(String(ran.output[3])) }
}

/** Everything in the folder as one digest. Files are read in pieces. */
const digestOf = (root: string): string => {
  const hash = createHash("sha256")
  const buffer = Buffer.alloc(4 * 1024 * 1024)
  const files = [".claude", ".codex", ".pi", ".local"]
    .flatMap((part) => globSync(`${part}/**/*`, { cwd: root }))
    .sort()
  for (const file of files) {
    const path = join(root, file)
    if (!statSync(path).isFile()) continue
    hash.update(file)
    const descriptor = openSync(path, "r")
    for (let count = -1; count !== 0;) {
      count = readSync(descriptor, buffer)
      hash.update(buffer.subarray(0, count))
    }
    closeSync(descriptor)
  }
  return hash.digest("hex")
}

const say = (text: string): void => void process.stdout.write(`${text}\n`)

say(
  `node ${process.versions.node}, load ${loadavg()[0]?.toFixed(2)}, ${corpus.sessions} sessions, ${(corpus.bytes / 1e9).toFixed(2)} GB`,
)
const before = digestOf(home)
const first = search("nothing-of-the-kind")
say(
  `first index: ${(first.cpuMs / 1_000).toFixed(1)} s of CPU (at most ${LIMITS.cpuS}), ${first.memoryMb.toFixed(0)} MB (at most ${LIMITS.memoryMb}), ${(first.wallMs / 1_000).toFixed(1)} s`,
)
const times: number[] = []
const work: number[] = []
let found = 0
for (const { phrase, harness, id, directory } of corpus.planted) {
  const { results, wallMs, cpuMs } = search(phrase)
  times.push(wallMs)
  work.push(cpuMs)
  const [top] = results
  if (
    top?.harness === harness &&
    top.id === `${harness}:${id}` &&
    top.place === directory &&
    top.continue.includes(id)
  )
    found += 1
}
for (const words of ["kalo", "ren mi", "the", "kalo lomi velto", "const await", '"await kalo"'])
  for (let n = 0; n < 5; n += 1) {
    const { wallMs, cpuMs } = search(...words.split(" "))
    times.push(wallMs)
    work.push(cpuMs)
  }
say(
  `${corpus.planted.length} planted phrases: ${found} found in the right session; ${times.length} queries: p50 ${percentile(times, 0.5).toFixed(0)} ms, p95 ${percentile(times, 0.95).toFixed(0)} ms (at most ${LIMITS.queryMs}); CPU p50 ${percentile(work, 0.5).toFixed(0)} ms, p95 ${percentile(work, 0.95).toFixed(0)} ms`,
)
say(`sources byte for byte as before: ${digestOf(home) === before ? "yes" : "NO"}`)
const grown = globSync(".codex/sessions/**/*.jsonl", { cwd: home })[0]
if (grown !== undefined && keepAt === -1) {
  const payload = {
    type: "message",
    role: "user",
    content: [{ type: "input_text", text: "a wholly new sentence" }],
  }
  appendFileSync(
    join(home, grown),
    `${JSON.stringify({ timestamp: new Date().toISOString(), type: "response_item", payload })}\n`,
  )
  const update = search("wholly new sentence")
  say(
    `one new line: found ${update.results.length === 1 ? "yes" : "NO"}, ${update.wallMs.toFixed(0)} ms with the update`,
  )
}
folder.remove()
