/**
 * Takes what the run around this process should tell its agent (`protocol/run-offer.ts`), so that no other reader tells it
 * too.
 */
import { readFileSync, renameSync } from "node:fs"
import { isAbsolute, join } from "node:path"

import { decodeRunOffer, OFFER_FILE, parseObject, TAKEN_FILE, type RunOffer } from "@meridian/protocol"

type Environment = Readonly<Record<string, string | undefined>>

/** Never throws. Undefined when there is no run or nothing to tell. */
export const takeOffer = (env: Environment): RunOffer | undefined => {
  const folder = runFolder(env)
  if (folder === undefined) return undefined
  try {
    const taken = join(folder, TAKEN_FILE)
    renameSync(join(folder, OFFER_FILE), taken)
    const offer = decodeRunOffer(parseObject(readFileSync(taken, "utf8")))
    return offer.tag === "value" ? offer.value : undefined
  } catch {
    return undefined
  }
}

const runFolder = (env: Environment): string | undefined => {
  const [root = "", space = "", run = ""] = ["STATE_ROOT", "SPACE_ID", "PARENT_RUN_ID"].map(
    (name) => env[`MERIDIAN_${name}`],
  )
  const isRun = isAbsolute(root) && /^s\d+$/.test(space) && /^r\d+$/.test(run)
  return isRun ? join(root, ".spaces", space, "runs", run) : undefined
}
