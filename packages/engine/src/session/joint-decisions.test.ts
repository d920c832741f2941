import { Failure, type DurableEvent, type StoredEvent } from "@meridian/protocol"
import { Cause, Effect, Exit } from "effect"
import { expect, test } from "vitest"

import { emptyTranscript } from "../domain/transcript/transcript.ts"
import { decideTogether, joinDecision, takeAlike } from "./joint-decisions.ts"

const TO = { session: "ses_1", durability: "progress" } as const

const numbered = (events: readonly DurableEvent[], after: number): readonly StoredEvent[] =>
  events.map((event, index) => Object.assign({ seq: after + index + 1, time: 7 }, event))

const rename = (title: string): DurableEvent => ({ type: "session.next.renamed.1", data: { title } })

test("each decision sees what the ones before it append, and one that refuses stops none", async () => {
  const named = (title: string) =>
    joinDecision(TO, ({ title: before }) => ({
      kind: "append",
      events: [rename(`${before?.text ?? "nothing"}, ${title}`)],
      answer: (stored) => stored.map(({ seq }) => seq),
    }))
  const refused = joinDecision(TO, () => ({ kind: "refuse", failure: new Failure("ENGINE_CLOSED") }))
  const silent = joinDecision(TO, ({ seq }) => ({ kind: "append", events: [], answer: () => seq }))
  const all = [named("one"), refused, named("two"), silent]
  const joint = decideTogether(
    all.map(({ member }) => member),
    emptyTranscript(),
    numbered,
  )
  expect(joint.events).toEqual([rename("nothing, one"), rename("nothing, one, two")])
  expect([joint.transcript.seq, joint.transcript.title?.text]).toEqual([2, "nothing, one, two"])
  expect(all.map(({ outcome }) => outcome())).toEqual([undefined, undefined, undefined, undefined])

  joint.stored(Effect.void)
  const [first, second, third, last] = await Promise.all(
    all.map(({ outcome }) => Effect.runPromiseExit<unknown, Failure>(outcome() ?? Effect.die("not stored"))),
  )
  expect(first).toEqual(Exit.succeed({ answer: [1], safe: Effect.void, isNew: true }))
  expect(second).toEqual(Exit.fail(new Failure("ENGINE_CLOSED")))
  expect(third).toMatchObject({ value: { answer: [2], isNew: true } })
  expect(last).toMatchObject({ value: { answer: 2, isNew: false } })
})

test("a write that a store may have kept although it failed is not repeated", async () => {
  const joining = joinDecision(TO, () => ({ kind: "append", events: [rename("x")], answer: () => "stored" }))
  joining.member.failed(Cause.fail(new Failure("DATABASE_BUSY", { file: "f" })))
  expect(await Effect.runPromiseExit(joining.outcome() ?? Effect.die("open"))).toEqual(
    Exit.fail(new Failure("DATABASE_BUSY", { file: "f" })),
  )
})

test("only writes with the same fence and durability go together", () => {
  const fence = { session: "ses_1", number: 3 } as const
  const join = (to: Parameters<typeof joinDecision>[0]) =>
    joinDecision(to, () => ({ kind: "append", events: [], answer: () => undefined })).member
  const [own, other, act, next] = [
    join({ ...TO, fence }),
    join(TO),
    join({ ...TO, fence, durability: "act" }),
    join({ ...TO, fence }),
  ]
  const waiting = [own, other, act, next]
  expect(takeAlike(waiting, own)).toEqual([own, next])
  expect(waiting).toEqual([other, act])
})
