/** A client with a token cannot make the server run out of memory, however little it reads. */
import { expect, test } from "vitest"

import { fillInputs, fillLog, openHttpAttack, SESSION } from "./http-scene.ts"

const MEBIBYTE = 1024 * 1024

test("a hundred streams that never read a log of 160 MB leave the server at work, and an honest reader gets all of it", async () => {
  const attack = await openHttpAttack({ heapMebibytes: 192, prepare: (database) => fillLog(database, 40, 4) })
  for (let count = 0; count < 100; count += 1) attack.deafRequest(`/api/session/${SESSION}/event`)
  const seen: number[] = []
  for await (const event of attack.client.events({ sessionID: SESSION, follow: false }))
    if ("seq" in event) seen.push(event.seq)
  expect(seen).toEqual(Array.from({ length: 41 }, (_, index) => index + 1))
  expect(attack.memory()).toBeLessThan(700 * MEBIBYTE)
  expect(await attack.client.server.health()).toMatchObject({ healthy: true })
})

test("a hundred requests for 160 MB of inputs whose answers nobody reads leave the server at work", async () => {
  const attack = await openHttpAttack({
    heapMebibytes: 192,
    prepare: (database) => fillInputs(database, 40, 4),
  })
  for (let count = 0; count < 100; count += 1) attack.deafRequest(`/api/session/${SESSION}/input?limit=200`)
  const seen: string[] = []
  for (let after: number | undefined = 0; after !== undefined;) {
    const page = await attack.client.sessions.inputs({ sessionID: SESSION, after })
    seen.push(...page.items.map(({ id }) => id))
    after = page.next
  }
  expect(seen).toEqual(Array.from({ length: 40 }, (_, index) => `msg_${index + 1}`))
  expect(attack.memory()).toBeLessThan(700 * MEBIBYTE)
})
