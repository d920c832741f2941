import { expect, test } from "vitest"

import { openSlots } from "./slots.ts"

const never = new AbortController().signal

test("as many as there are slots work at once, the others in the order of their requests", async () => {
  const slots = openSlots(2)
  const order: number[] = []
  let working = 0
  let most = 0
  await Promise.all(
    Array.from({ length: 7 }, async (_, at) => {
      const giveBack = await slots.take(never)
      order.push(at)
      working++
      most = Math.max(most, working)
      await Promise.resolve()
      working--
      giveBack()
      giveBack()
    }),
  )
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6])
  expect(most).toBe(2)
})

test("an interrupted caller leaves the queue and costs no other its place", async () => {
  const slots = openSlots(1)
  const giveBack = await slots.take(never)
  const interrupt = new AbortController()
  const impatient = slots.take(interrupt.signal)
  const patient = slots.take(never)
  interrupt.abort()
  await expect(impatient).rejects.toMatchObject({ code: "interrupted" })
  giveBack()
  const second = await patient
  second()
  await slots.take(never)
  await expect(slots.take(interrupt.signal)).rejects.toMatchObject({ code: "interrupted" })
})
