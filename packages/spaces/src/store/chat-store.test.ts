import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { chatId } from "@meridian/protocol"
import { afterEach, beforeEach, expect, test } from "vitest"

import { verifies } from "../../../../test/verifies.ts"
import type { ChatStart } from "../domain/chat.ts"
import { findChat } from "../domain/chat.ts"
import { decodeLine } from "../domain/json-line.ts"
import { liveChats, readChats, startChat, stopChat, stopDeadChats, updateChat } from "./chat-store.ts"
import { chatLock, openPlace, spacePlace, type StatePlace, type SpacePlace } from "./place.ts"
import { changeSpace, createSpace } from "./space-store.ts"

const NOW = "2026-03-01T00:00:00.000Z"
let project: string
let place: StatePlace
let space: SpacePlace
beforeEach(async () => {
  project = mkdtempSync(join(tmpdir(), "chat-"))
  place = openPlace({}, project)
  space = spacePlace(place, (await createSpace(place, { name: undefined, now: NOW })).id)
})
afterEach(() => rmSync(project, { recursive: true, force: true }))

const START: Omit<ChatStart, "chatId"> = {
  harness: "claude",
  harnessSessionId: "",
  model: "claude-opus-4-6",
  agent: "coder",
  agentPath: "/repo/.claude/agents/coder.md",
  skills: ["plan"],
  skillPaths: ["/repo/.agents/skills/plan/SKILL.md"],
  params: ["--verbose"],
  cwd: "/repo",
  startedAt: NOW,
}
const chats = () => readChats(space, () => expect.unreachable())

verifies("session.record-fields", async () => {
  const chat = await startChat(place, space, START)
  const event = decodeLine(readFileSync(space.chatsLog, "utf8"))
  expect(event).toEqual({
    v: 1,
    event: "start",
    chat_id: "c1",
    harness: "claude",
    harness_session_id: "",
    model: "claude-opus-4-6",
    agent: "coder",
    agent_path: "/repo/.claude/agents/coder.md",
    skills: ["plan"],
    skill_paths: ["/repo/.agents/skills/plan/SKILL.md"],
    params: ["--verbose"],
    cwd: "/repo",
    started_at: NOW,
  })
  chat.lock.release()
})

verifies("session.update-event", async () => {
  const chat = await startChat(place, space, START)
  await updateChat(space, chat.chatId, "abc")
  await stopChat(space, chat, NOW)
  expect(chats()).toEqual([{ ...START, chatId: "c1", harnessSessionId: "abc", stoppedAt: NOW }])
  expect(existsSync(chatLock(space, chat.chatId))).toBe(false)
})

verifies("session.many-at-once", async () => {
  const first = await startChat(place, space, START)
  const second = await startChat(place, space, START)
  expect(await liveChats(space, chats())).toEqual(new Set(["c1", "c2"]))
  await stopChat(space, first, NOW)
  expect(await liveChats(space, chats())).toEqual(new Set(["c2"]))
  second.lock.release()
  expect(await liveChats(space, chats())).toEqual(new Set())
})

test("a live chat cannot be started a second time", async () => {
  const chat = await startChat(place, space, START)
  await expect(startChat(place, space, { ...START, chatId: chatId("c1") })).rejects.toMatchObject({
    code: "CHAT_ALIVE",
  })
  chat.lock.release()
})

verifies("session.old-events", () => {
  writeFileSync(
    space.chatsLog,
    `{"event":"start","${["session", "id"].join("_")}":"c4","harness":"codex","harness_session_id":"t1","model":"m","started_at":"${NOW}"}\n`,
  )
  expect(chats()).toEqual([
    {
      chatId: "c4",
      harness: "codex",
      harnessSessionId: "t1",
      model: "m",
      skills: [],
      skillPaths: [],
      params: [],
      startedAt: NOW,
    },
  ])
})

verifies("session.chat-id", async () => {
  writeFileSync(space.chatsLog, `{"event":"start","${["session", "id"].join("_")}":"c4","harness":"codex"}\n`)
  const chat = await startChat(place, space, START)
  expect(chat.chatId).toBe("c5")
  expect(readFileSync(space.chatsLog, "utf8").split("\n")[1]).toContain('"chat_id":"c5"')
  chat.lock.release()
})

verifies("session.newest-wins", async () => {
  for (const model of ["old", "new"]) {
    const chat = await startChat(place, space, {
      ...START,
      chatId: chatId("c1"),
      harnessSessionId: "abc",
      model,
    })
    await stopChat(space, chat, NOW)
  }
  expect(findChat(chats(), "abc")?.model).toBe("new")
  expect(findChat(chats(), "c1")?.model).toBe("new")
})

test("a chat whose holder is gone is stopped once and its lock file removed; live chats are left alone", async () => {
  const dead = await startChat(place, space, START)
  dead.lock.release()
  const live = await startChat(place, space, START)
  const options = { now: NOW, onDamage: () => expect.unreachable() }
  expect(await stopDeadChats(space, options)).toEqual({ stopped: ["c1"], removed: 1 })
  const after = readFileSync(space.chatsLog, "utf8")
  expect(await stopDeadChats(space, options)).toEqual({ stopped: [], removed: 0 })
  expect(readFileSync(space.chatsLog, "utf8")).toBe(after)
  expect(existsSync(chatLock(space, live.chatId))).toBe(true)
  live.lock.release()
})

verifies("space.closed-takes-nothing", async () => {
  await changeSpace(place, space.id, (now) => ({ ...now, status: "closed", finishedAt: NOW }))
  await expect(startChat(place, space, START)).rejects.toMatchObject({ code: "SPACE_CLOSED" })
})
