import { test } from "vitest"

import type { BehaviourId } from "./behaviours.ts"

/**
 * A test that proves a promise. The id must exist in `behaviours.ts`. The test's name is the id plus what this case adds.
 */
/** The scenes of this file are on a server (`postgres-scene.ts`). */
// oxlint-disable-next-line node/no-process-env -- the same tests run on every store
export const isOnServer = process.env["MERIDIAN_SCENE_SERVER"] !== undefined

/** For tests that look into the database file, or count on its immediate answer. On a server, no such test runs. */
export const verifiesOnFile = (id: BehaviourId, body: () => void | Promise<void>): void => {
  if (!isOnServer) verifies(id, body)
}

export const testOnFile = isOnServer ? () => undefined : test

export const verifies = (id: BehaviourId, body: () => void | Promise<void>, adds = ""): void => {
  // oxlint-disable-next-line vitest/valid-title -- the id is the title
  test(`${id}${adds === "" ? "" : ": "}${adds}`, body)
}
