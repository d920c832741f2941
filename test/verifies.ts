import { test } from "vitest"

import type { BehaviourId } from "./behaviours.ts"

/** A test that proves a promise. The id must exist in `behaviours.ts`; the name of the test is id plus what this case adds. */
export const verifies = (id: BehaviourId, body: () => void | Promise<void>, adds = ""): void => {
  // oxlint-disable-next-line vitest/valid-title -- the id is the title
  test(`${id}${adds === "" ? "" : ": "}${adds}`, body)
}
