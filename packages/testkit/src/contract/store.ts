/**
 * What every store promises, whatever is behind it. The runner relies on nothing else. Everything runs on simulated time,
 * so a slow store takes no longer here.
 */
import { describe } from "vitest"

import { appendContract } from "./store-append.ts"
import { draftContract } from "./store-drafts.ts"
import { leaseContract } from "./store-leases.ts"
import { questionsContract } from "./store-questions.ts"
import { readingContract } from "./store-reading.ts"
import type { StoreUnderTest } from "./store-scene.ts"

export type { StoreUnderTest } from "./store-scene.ts"

export const storeContract = (store: StoreUnderTest): void => {
  describe(`${store.name}: append`, () => {
    appendContract(store)
  })
  describe(`${store.name}: reading`, () => {
    readingContract(store)
  })
  describe(`${store.name}: questions`, () => {
    questionsContract(store)
  })
  describe(`${store.name}: drafts`, () => {
    draftContract(store)
  })
  describe(`${store.name}: leases, hints and outputs`, () => {
    leaseContract(store)
  })
}
