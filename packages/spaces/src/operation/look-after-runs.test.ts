import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { expect, onTestFinished, test } from "vitest"

import { openPlace } from "../store/place.ts"
import { openRunKeeper } from "./look-after-runs.ts"
import type { State } from "./state.ts"

const NOW = Date.parse("2026-01-01T12:00:00.000Z")
const iso = (ms: number): string => new Date(ms).toISOString()

/** Two spaces whose runs have no worker. Starting a worker only leaves a mark. */
const openScene = (lines: Readonly<Record<string, readonly object[]>>) => {
  const home = mkdtempSync(join(tmpdir(), "keeper-"))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const marks = join(home, "marks")
  const program = join(home, "program")
  writeFileSync(program, `#!/bin/sh\ncat > /dev/null\necho started >> '${marks}'\nexit 1\n`)
  chmodSync(program, 0o755)
  const place = openPlace({}, home)
  for (const [space, events] of Object.entries(lines)) {
    mkdirSync(join(place.spaces, space, "runs/r1"), { recursive: true })
    writeFileSync(
      join(place.spaces, space, "runs.jsonl"),
      events.map((event) => `${JSON.stringify({ v: 2, id: "r1", ...event })}\n`).join(""),
    )
  }
  let nowMs = NOW
  const state: State = {
    place,
    now: () => iso(nowMs),
    sleep: () => Promise.resolve(),
    onDamage: () => undefined,
    resumable: () => true,
  }
  const over = new AbortController()
  const keeper = openRunKeeper(state, {
    // oxlint-disable-next-line node/no-process-env -- the tools of this machine
    env: { PATH: process.env["PATH"] },
    cwd: home,
    clock: { now: () => nowMs, sleep: () => Promise.resolve() },
    program: [program],
    uuid: () => "0",
    signal: over.signal,
  })
  return {
    look: keeper.look,
    setClock: (ms: number) => {
      nowMs = ms
    },
    started: () => (existsSync(marks) ? readFileSync(marks, "utf8").trim().split("\n").length : 0),
  }
}

const START = {
  event: "start",
  status: "running",
  depth: 0,
  model: "",
  harness: "claude",
  skills: [],
  skill_paths: [],
  started_at: iso(NOW),
}

test("a run whose worker keeps failing is retried with growing delays", async () => {
  const scene = openScene({ s1: [START] })
  for (let elapsedMs = 0; elapsedMs < 60_000; elapsedMs += 1_000) await scene.look(elapsedMs)
  // At 0, 2, 6, 14, 30 s.
  expect(scene.started()).toBe(5)
})

test("a space of a newer Meridian is left alone, and the others are supervised", async () => {
  const scene = openScene({ s1: [{ ...START, v: 3 }], s2: [START] })
  expect(await scene.look(0)).toBe(1)
  expect(scene.started()).toBe(1)
})

test("a waiting run is not touched before its time, whatever the clock does", async () => {
  const waits = { event: "update", status: "waiting", waiting_for: "limit", waiting_until: iso(NOW + 10_000) }
  const scene = openScene({ s1: [START, waits] })
  expect(await scene.look(0)).toBe(1)
  expect(await scene.look(9_000)).toBe(1)
  expect(scene.started()).toBe(0)
  // The clock is set back by a day, but ten seconds are still ten seconds.
  scene.setClock(NOW - 24 * 3_600_000)
  await scene.look(9_500)
  expect(scene.started()).toBe(0)
  await scene.look(10_000)
  expect(scene.started()).toBe(1)
})

test("a machine that slept past the time resumes the run when it wakes", async () => {
  const waits = {
    event: "update",
    status: "waiting",
    waiting_for: "limit",
    waiting_until: iso(NOW + 3_600_000),
  }
  const scene = openScene({ s1: [START, waits] })
  await scene.look(0)
  scene.setClock(NOW + 3_600_000)
  await scene.look(1_000)
  expect(scene.started()).toBe(1)
})

test("a paused run starts no process, and resumes when asked to", async () => {
  const paused = { event: "update", status: "paused" }
  expect(await openScene({ s1: [START, paused] }).look(0)).toBe(0)
  const asked = openScene({ s1: [START, paused, { event: "update", asked: "resume" }] })
  await asked.look(0)
  expect(asked.started()).toBe(1)
})
