/** The last guard before a call acts on an answer: whoever has lost the session meanwhile does nothing. */
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"

import { messageId, sessionId } from "@meridian/protocol"
import { expect, test } from "vitest"

import { createMachine } from "../../../../test/engine-life.ts"
import { makeDirectory } from "../../../../test/engine-scene.ts"
import { openStore } from "../store/store.ts"
import { createHistories } from "./histories.ts"
import { createPermissions } from "./permissions.ts"
import { createSignals } from "./signals.ts"

test("an answer that arrives after the session was taken over lets nothing act", async () => {
  const base = makeDirectory()
  const directory = join(base, "project")
  mkdirSync(directory)
  const machine = createMachine()
  const life = machine.start()
  const open = (world: typeof life.world) =>
    openStore({ file: join(base, "engine.sqlite"), world, leaseMs: 8_000 })
  const store = open(life.world)
  const { row } = store.log.create("ses_1", {
    type: "session.next.created.1",
    data: { sessionID: sessionId("ses_1"), location: { directory } },
  })
  const acquired = store.leases.acquire(row.key)
  if (acquired.kind !== "acquired") throw new Error("the lease is free")
  const { fence } = acquired
  const assistantMessageID = messageId("msg_1")
  store.log.write({ sessionID: "ses_1", durability: "NORMAL", fence }, ({ append }) =>
    append([
      { type: "session.next.step.started.1", data: { assistantMessageID, agent: "build", model: "m" } },
      {
        type: "session.next.tool.called.1",
        data: { assistantMessageID, callID: "c1", tool: "act", input: {} },
      },
    ]),
  )
  const histories = createHistories(store)
  const signals = createSignals({ store, world: life.world })
  const permissions = createPermissions({ store, world: life.world, signals, histories })
  const answered = permissions.ask(
    {
      sessionID: "ses_1",
      fence,
      rules: [{ action: "*", resource: "*", effect: "ask" }],
      project: directory,
      messageID: assistantMessageID,
      callID: "c1",
      signal: new AbortController().signal,
    },
    { action: "act", resources: ["x"], title: "Act" },
  )
  const [request] = permissions.list()
  // Another process takes us for gone and has the session now; it has not settled anything yet.
  life.freeze()
  const other = open(machine.start().world)
  expect(other.leases.acquire(row.key)).toMatchObject({ kind: "acquired", abandoned: true })
  permissions.reply({ requestID: request?.id ?? "", reply: "once" })
  await expect(answered).rejects.toMatchObject({ code: "FENCED" })
  signals.close()
  histories.close()
  other.close()
  store.close()
  rmSync(base, { recursive: true, force: true })
})
