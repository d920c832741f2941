/** `meridian models update`: the one command of models that uses the network. */
import { readFile, stat } from "node:fs/promises"
import { resolve } from "node:path"

import { Failure, systemCode } from "@meridian/protocol"

import { readModelsDev, renderLimits, type ModelLimits } from "../domain/model-limits.ts"
import { isLoopback } from "../domain/provider-address.ts"
import { limitsPath, loadLimits, saveLimits } from "../store/model-limits.ts"
import { MODELS_UPDATE } from "./models.meta.ts"
import { implement } from "./operation.ts"
import type { World } from "./world.ts"

const ADDRESS = "https://models.dev/api.json"

export const modelsUpdate = implement(MODELS_UPDATE, {
  run: async ({ from: given }, world) => {
    const told = world.env["MERIDIAN_MODELS_URL"] ?? ""
    const from = given ?? (told === "" ? ADDRESS : told)
    const fail = (problem: string, cause?: unknown): Failure =>
      new Failure("MODELS_NOT_UPDATED", { from: withoutSecrets(from), problem }, { cause })
    const path = limitsPath(world.env)
    if (path === undefined) throw fail("this user has no home directory (HOME, XDG_DATA_HOME)")
    const text = await readSource(from, world, fail)
    const models = readModelsDev(parseJson(text))
    if (models === undefined) throw fail("it is not a list of models in the form of models.dev")
    const before = (await loadLimits(world.env)).models
    const date = new Date(world.clock.now()).toISOString().slice(0, 10)
    await saveLimits(path, renderLimits(models, { date, origin: withoutSecrets(from) }))
    return {
      path,
      from: withoutSecrets(from),
      ...compare(before, models, (await loadLimits(world.env)).models),
    }
  },
  text: ({ models, added, changed, removed, from, path }) =>
    `${models} model${models === 1 ? "" : "s"} from ${from}: ${added} new, ${changed} changed, ${removed} gone. Kept in ${path}`,
})

type Fail = (problem: string, cause?: unknown) => Failure

const LARGEST_BYTES = 33_554_432
const TIME_MS = 30_000

const readSource = async (from: string, world: World, fail: Fail): Promise<string> => {
  if (!/^https?:\/\//i.test(from)) return readLocal(resolve(world.cwd, from), fail)
  const url = URL.parse(from)
  if (url === null) throw fail("that is no address")
  if (url.username !== "" || url.password !== "")
    throw fail("a name and password before the host are not sent")
  if (url.protocol === "http:" && !isLoopback(url.origin))
    throw fail("http is only for this machine, use https")
  try {
    const signal = AbortSignal.any([world.signal, AbortSignal.timeout(TIME_MS)])
    // oxlint-disable-next-line eslint/no-restricted-globals -- the one operation whose whole purpose is the network
    const response = await fetch(url, { signal, headers: { accept: "application/json" } })
    if (!response.ok) throw fail(`it answered ${response.status}`)
    return await readBounded(response, fail)
  } catch (error) {
    world.signal.throwIfAborted()
    throw error instanceof Failure ? error : fail(describe(error), error)
  }
}

const readLocal = async (path: string, fail: Fail): Promise<string> => {
  try {
    if ((await stat(path)).size > LARGEST_BYTES) throw fail("it is larger than 32 MiB")
    return await readFile(path, "utf8")
  } catch (error) {
    throw error instanceof Failure ? error : fail("the file cannot be read", error)
  }
}

const readBounded = async (response: Response, fail: Fail): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ""
  let bytes = 0
  for await (const piece of response.body ?? []) {
    bytes += piece.length
    if (bytes > LARGEST_BYTES) throw fail("it is larger than 32 MiB")
    text += decoder.decode(piece, { stream: true })
  }
  return text + decoder.decode()
}

const describe = (error: unknown): string => {
  if (error instanceof Error && error.name === "TimeoutError") return `no answer within ${TIME_MS / 1_000} s`
  const code = systemCode(error instanceof Error ? error.cause : undefined)
  return `it cannot be reached${code === "" ? "" : ` (${code})`}`
}

const parseJson = (text: string): unknown => {
  try {
    // oxlint-disable-next-line eslint/no-restricted-properties -- `readModelsDev` reads every field as unknown
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Text before the host or after the path may be a credential. */
const withoutSecrets = (from: string): string =>
  from.replace(/^(\w+:\/\/)[^/@]*@/, "$1<hidden>@").replace(/^(https?:[^?#]*)[?#].*$/i, "$1")

/** `after` includes the program's own models: one that the new list lacks is not gone while the program still names it. */
const compare = (
  before: ReadonlyMap<string, ModelLimits>,
  now: readonly ModelLimits[],
  after: ReadonlyMap<string, ModelLimits>,
) => {
  return {
    models: now.length,
    added: now.filter(({ id }) => !before.has(id)).length,
    removed: [...before.keys()].filter((id) => !after.has(id)).length,
    changed: now.filter((model) => {
      const old = before.get(model.id)
      return old !== undefined && JSON.stringify(old) !== JSON.stringify(model)
    }).length,
  }
}
