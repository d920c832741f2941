import { expect, test } from "vitest"

import { openEngineScene, type EngineScene } from "../../../../test/engine-scene.ts"
import { makeEventFeeds, type FeedMember } from "./event-feeds.ts"

/** Records what it gets, and leaves when it has `most` of them. */
const makeMember = (after: number, most = Infinity) => {
  const leaving = new AbortController()
  const first = Promise.withResolvers<void>()
  const handed: Uint8Array[] = []
  let last = after
  const member: FeedMember = {
    after: () => last,
    signal: leaving.signal,
    take: (news) => {
      handed.push(news.frames)
      last = news.last
      first.resolve()
      return handed.length < most
    },
  }
  return { member, handed, first: first.promise, leave: () => leaving.abort() }
}

const write = async ({ engine, session }: EngineScene): Promise<void> => {
  await engine.sessions.prompt({ sessionID: session.id, prompt: { text: "x" }, resume: false })
}

test("many followers of a session share one reading of the log and the very same bytes", async () => {
  await using scene = await openEngineScene()
  const feeds = makeEventFeeds(scene.engine)
  const sessionID = scene.session.id
  const members = Array.from({ length: 3 }, () => makeMember(1, 1))
  const following = members.map(({ member }) => feeds.follow(sessionID, member))
  expect(feeds.count()).toBe(1)
  await write(scene)
  await Promise.all(following)
  const [first] = members
  expect(Buffer.from(first?.handed[0] ?? []).toString()).toMatch(/^id: 2\ndata: \{"seq":2,/)
  for (const { handed } of members) expect(handed[0]).toBe(first?.handed[0])
})

test("nothing is left when the last follower has gone, however it went", async () => {
  await using scene = await openEngineScene()
  const feeds = makeEventFeeds(scene.engine)
  const sessionID = scene.session.id
  const one = makeMember(1, 1)
  const two = makeMember(1)
  const following = [feeds.follow(sessionID, one.member), feeds.follow(sessionID, two.member)]
  await write(scene)
  await following[0]
  expect(feeds.count()).toBe(1)
  two.leave()
  await following[1]
  expect(feeds.count()).toBe(0)
  await feeds.follow(sessionID, two.member)
  expect(feeds.count()).toBe(0)
})

test("a follower that is behind the feed is sent back to the log", async () => {
  await using scene = await openEngineScene()
  const feeds = makeEventFeeds(scene.engine)
  const sessionID = scene.session.id
  const early = makeMember(1)
  void feeds.follow(sessionID, early.member)
  await write(scene)
  await early.first
  const late = makeMember(1)
  await feeds.follow(sessionID, late.member)
  expect(late.handed).toEqual([])
  early.leave()
})

test("a closed engine refuses every call", async () => {
  await using scene = await openEngineScene()
  const feeds = makeEventFeeds(scene.engine)
  const sessionID = scene.session.id
  const following = feeds.follow(sessionID, makeMember(1).member)
  await scene.engine.close()
  await following
  expect(feeds.count()).toBe(0)
})
