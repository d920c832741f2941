/** The last guard before a call acts on an answer: a process that has lost the session does nothing. */
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"

import { messageId, sessionId } from "@meridian/protocol"
import { Effect, Fiber, Layer } from "effect"
import { expect, test } from "vitest"

import { createMachine, type Life } from "../../../../test/engine-life.ts"
import { makeDirectory } from "../../../../test/engine-scene.ts"
import { Ids } from "../port/ids.ts"
import { Store } from "../port/store.ts"
import { FoldedSessions, openSessions, Signals } from "../session/index.ts"
import { sqliteStore } from "../store/sqlite/store.ts"
import { AskPermission } from "./permissions.ts"

test("an answer that arrives after the session was taken over lets nothing act", async () => {
  const base = makeDirectory()
  const directory = join(base, "project")
  mkdirSync(directory)
  using machine = createMachine()
  const file = join(base, "engine.sqlite")
  const storeOf = (life: Life) => {
    const { sqlite, ids } = life.internals({ database: file, models: [] })
    return sqliteStore({ file, leaseMs: 8_000, ...sqlite }).pipe(
      Layer.provideMerge(Layer.succeed(Ids, { next: ids?.next ?? (() => "") })),
    )
  }
  const mine = machine.start()
  const parts = AskPermission.layer({ asksAgain: false }).pipe(
    Layer.provideMerge(FoldedSessions.layer),
    Layer.provideMerge(Signals.layer),
    Layer.provideMerge(storeOf(mine)),
  )
  const program = Effect.gen(function* () {
    const store = yield* Store
    const sessions = yield* FoldedSessions
    const permissions = yield* AskPermission
    const assistantMessageID = messageId("msg_1")
    yield* sessions.create({ session: "ses_1", durability: "progress" }, () => ({
      kind: "append",
      events: [
        {
          type: "session.next.created.1",
          data: { sessionID: sessionId("ses_1"), location: { directory } },
        },
      ],
      answer: () => undefined,
    }))
    const acquired = yield* store.leases.acquire("ses_1")
    if (acquired.kind !== "acquired") throw new Error("the lease is free")
    const withSession = yield* openSessions
    yield* withSession({ fence: acquired.fence, released: () => 0 }, (session) =>
      Effect.gen(function* () {
        yield* session.append([
          { type: "session.next.step.started.1", data: { assistantMessageID, agent: "build", model: "m" } },
          {
            type: "session.next.tool.called.1",
            data: { assistantMessageID, callID: "c1", tool: "act", input: {} },
          },
        ])
        const asker = {
          session,
          rules: [{ action: "*", resource: "*", effect: "ask" } as const],
          project: directory,
          messageID: assistantMessageID,
          callID: "c1",
        }
        const answered = yield* Effect.forkScoped(
          Effect.flip(permissions.ask(asker, { action: "act", resources: ["x"], title: "Act" })),
          { startImmediately: true },
        )
        const [request] = yield* permissions.list()
        // Another process believes this one is dead and has taken the session. It has not settled anything yet.
        mine.freeze()
        const other = yield* Layer.build(storeOf(machine.start()))
        const taken = yield* Effect.provide(
          Store.use(({ leases }) => leases.acquire("ses_1")),
          other,
        )
        expect(taken).toMatchObject({ kind: "acquired", abandoned: true })
        yield* permissions.reply({ requestID: request?.id ?? "", reply: "once" })
        expect(yield* Fiber.join(answered)).toMatchObject({ code: "FENCED" })
      }),
    )
  })
  await Effect.runPromiseWith(mine.references)(Effect.scoped(Effect.provide(program, parts)))
  rmSync(base, { recursive: true, force: true })
})
