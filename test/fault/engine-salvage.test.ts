/** A damaged database is read around its damage, into a new one. */
import {
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
  closeSync,
} from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

import { openEngine, salvageDatabase } from "@meridian/engine"
import { expect, onTestFinished, test } from "vitest"

import { ALLOW_ALL, makeDirectory, scriptedModel } from "../engine-scene.ts"

const PAGE = 4_096

/** Three sessions of ten prompts. In one of them, the text is longer than a page. */
const makeDatabase = async ({ closed = true } = {}) => {
  const directory = makeDirectory()
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const [file, to] = [join(directory, "engine.sqlite"), join(directory, "saved.sqlite")]
  const engine = await openEngine({ database: file, models: [scriptedModel([])], permissions: ALLOW_ALL })
  const sessions: string[] = []
  for (const name of ["a", "b", "c"]) {
    const { id } = await engine.sessions.create({ location: { directory } })
    sessions.push(id)
    for (let turn = 0; turn < 10; turn += 1) {
      await engine.sessions.prompt({
        sessionID: id,
        prompt: { text: `${name}${turn} ${"long ".repeat(turn * 500)}` },
      })
      await engine.sessions.wait(id)
    }
  }
  const damaged = join(directory, "damaged.sqlite")
  if (!closed) {
    for (const part of ["", "-wal"]) copyFileSync(`${file}${part}`, `${damaged}${part}`)
    await engine.close()
  } else {
    await engine.close()
    copyFileSync(file, damaged)
  }
  return { file, damaged, to, sessions }
}

const eventsOf = async (file: string, session: string): Promise<readonly string[]> => {
  const engine = await openEngine({ database: file, models: [scriptedModel([])], recover: false })
  try {
    const events: string[] = []
    for await (const event of engine.sessions.events({ sessionID: session }))
      events.push(JSON.stringify(event))
    return events
  } finally {
    await engine.close()
  }
}

const spoil = (file: string, page: number): void => {
  const descriptor = openSync(file, "r+")
  writeSync(descriptor, Buffer.alloc(PAGE, 0xa5), 0, PAGE, (page - 1) * PAGE)
  closeSync(descriptor)
}

test.each(["a closed database", "a database with a write-ahead log"])(
  "%s that is whole comes out whole",
  async (which) => {
    const { file, damaged, to, sessions } = await makeDatabase({ closed: which === "a closed database" })
    const salvaged = await salvageDatabase({ from: damaged, to })
    expect(salvaged.rest).toBeUndefined()
    expect(salvaged.sessions).toMatchObject(sessions.map((session) => ({ session, lost: 0 })))
    for (const session of sessions) expect(await eventsOf(to, session)).toEqual(await eventsOf(file, session))
    expect(statSync(to).mode & 0o77).toBe(0)
  },
)

test("whichever page is spoiled, the rest is saved: each session is a beginning of what it was, and the damaged file stays as it is", async () => {
  const { file, damaged, to, sessions } = await makeDatabase()
  const whole = await Promise.all(sessions.map((session) => eventsOf(file, session)))
  const sizes = new Map<number, number>()
  for (let page = 1; page <= statSync(file).size / PAGE; page += 1) {
    copyFileSync(file, damaged)
    spoil(damaged, page)
    const before = readFileSync(damaged)
    const saved = await salvageDatabase({ from: damaged, to })
    expect(readFileSync(damaged).equals(before)).toBe(true)
    let events = 0
    for (const [index, session] of sessions.entries()) {
      const known = saved.sessions.find((one) => one.session === session)
      if (known === undefined || known.events === 0) continue
      const found = await eventsOf(to, session)
      expect(found.slice(1)).toEqual(whole[index]?.slice(1, found.length))
      expect(found).toHaveLength(known.events)
      events += found.length
    }
    const aside = saved.rest === undefined ? 0 : readFileSync(saved.rest, "utf8").split("\n").length - 1
    sizes.set(page, events + aside)
    for (const left of [to, `${to}-wal`, `${to}-shm`, `${to}.rest.jsonl`]) rmSync(left, { force: true })
  }
  const all = whole.flat().length
  // Inner pages and indexes cost nothing. A page of events costs the events on it.
  expect(Math.max(...sizes.values())).toBe(all)
  expect(Math.min(...sizes.values())).toBeGreaterThan(all / 2)
  expect([sizes.get(1), sizes.get(2)]).toEqual([all, all])
})

test("a torn end is no event, and neither is a file of noise or of somebody else", async () => {
  const { damaged, to, sessions } = await makeDatabase()
  truncateSync(damaged, Math.floor(statSync(damaged).size / 2) + 100)
  const saved = await salvageDatabase({ from: damaged, to })
  expect(saved.sessions.map(({ session }) => session)).toContain(sessions[0])
  const other = `${damaged}.other`
  const database = new DatabaseSync(other)
  database.exec("create table note (id integer primary key, text text); insert into note values (1, 'mine')")
  database.close()
  for (const file of [other, `${damaged}.none`]) {
    if (file.endsWith("none")) copyFileSync("package.json", file)
    const into = `${to}.2`
    await expect(salvageDatabase({ from: file, to: into })).rejects.toMatchObject({
      code: "DATABASE_DAMAGED",
    })
    expect(existsSync(into)).toBe(false)
  }
  await expect(salvageDatabase({ from: damaged, to })).rejects.toMatchObject({ code: "EXPORT_FILE_EXISTS" })
})
