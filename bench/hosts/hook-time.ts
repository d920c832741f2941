/** The longest time that our hook or plugin worked for one request, as it recorded it. */
import { asObject, listAt, numberAt, parseObject } from "@meridian/protocol"

import type { Scene } from "./scene.ts"

/** Undefined when it did not work at all. */
export const hookTime = async (scene: Scene): Promise<number | undefined> => {
  const shown = parseObject(await scene.meridian("brief", "--injected", "--json"))
  const times = listAt(shown, "entries").flatMap((entry) => numberAt(asObject(entry), "ms") ?? [])
  return times.length === 0 ? undefined : Math.max(...times)
}
