import { expect, test } from "vitest"

import { makeCrowd } from "./crowd.ts"

const nextRound = () => new Promise((resolve) => setImmediate(resolve))

test("one caller a round is alone, however many rounds there are", async () => {
  const crowd = makeCrowd()
  const answers: boolean[] = []
  for (let round = 0; round < 3; round += 1) {
    answers.push(crowd.join())
    await nextRound()
  }
  expect(answers).toEqual([false, false, false])
})

test("the second of a round is in a crowd, and so is the first of the next round; after that it is over", async () => {
  const crowd = makeCrowd()
  const first = [crowd.join(), crowd.join(), crowd.join()]
  await nextRound()
  const second = [crowd.join()]
  await nextRound()
  const third = [crowd.join()]
  expect([first, second, third]).toEqual([[false, true, true], [true], [false]])
})
