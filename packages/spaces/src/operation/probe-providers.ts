/**
 * `meridian models list --probe`: asks compatible servers for their models (`GET /models`), including servers that
 * could run on this machine without being configured. Hosted providers are not asked: the catalogue knows their
 * models.
 */
import type { EngineFacts } from "../domain/engine-model.ts"
import { providerStates, type Connection } from "../domain/engine-provider.ts"
import { publicAddress } from "../domain/provider-address.ts"
import { PROVIDER_PRESETS } from "../domain/provider-preset.ts"
import type { World } from "./world.ts"

export interface Probed {
  /** The configured models plus those the servers named. */
  readonly facts: EngineFacts
  /** Why a provider cannot be used: it is configured but did not answer, or it answers but is not configured. */
  readonly reasons: ReadonlyMap<string, string>
}

export const probeProviders = async (facts: EngineFacts, world: Pick<World, "signal">): Promise<Probed> => {
  const providers = new Map(facts.tables.providers)
  const reasons = new Map<string, string>()
  const configured = providerStates(facts.tables, facts.env).flatMap((state) =>
    state.tag === "usable" && isOwnServer(state.name, state.connection) ? [state] : [],
  )
  const possible = Object.entries(PROVIDER_PRESETS).filter(
    ([name, preset]) => preset.local === true && !configured.some((state) => state.name === name),
  )
  await Promise.all([
    ...configured.map(async ({ name, connection }) => {
      const answer = await ask(connection, facts.env, world.signal)
      if (typeof answer === "string") reasons.set(name, answer)
      else {
        const settings = providers.get(name) ?? {}
        providers.set(name, { ...settings, models: [...(settings.models ?? []), ...answer] })
      }
    }),
    ...possible.map(async ([name, { kind, address = "" }]) => {
      const answer = await ask({ kind, address, key: { tag: "none" }, headers: {} }, facts.env, world.signal)
      if (typeof answer !== "string")
        reasons.set(
          name,
          `it runs at ${address} with ${answer.length} model${answer.length === 1 ? "" : "s"}: add [providers.${name}] to config.toml`,
        )
    }),
  ])
  return { facts: { ...facts, tables: { ...facts.tables, providers } }, reasons }
}

const isOwnServer = (name: string, { kind }: Connection): boolean =>
  kind === "openai-compatible" && (PROVIDER_PRESETS[name]?.keys.length ?? 0) === 0

const TIME_MS = 3_000
const LARGEST_BYTES = 1_048_576
const MOST_MODELS = 500

/** Names of models, or why there are none. */
const ask = async (
  { address = "", key, headers }: Connection,
  env: EngineFacts["env"],
  stop: AbortSignal,
): Promise<readonly string[] | string> => {
  const silent = `no answer at ${publicAddress(address)}`
  const secret = key.tag === "variable" ? env[key.name] : key.tag === "given" ? key.key : undefined
  try {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(TIME_MS)])
    // oxlint-disable-next-line eslint/no-restricted-globals -- only when the reader told us to ask
    const response = await fetch(`${address}/models`, {
      signal,
      redirect: "error",
      headers: { ...headers, ...(secret === undefined ? {} : { authorization: `Bearer ${secret.trim()}` }) },
    })
    if (!response.ok) return `${publicAddress(address)} answered ${response.status}`
    return (
      namesIn(await readBounded(response)) ?? `${publicAddress(address)} did not answer with a list of models`
    )
  } catch {
    stop.throwIfAborted()
    return silent
  }
}

const readBounded = async (response: Response): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ""
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece, { stream: true })
    if (text.length > LARGEST_BYTES) return ""
  }
  return text
}

const namesIn = (text: string): readonly string[] | undefined => {
  try {
    // oxlint-disable-next-line eslint/no-restricted-properties -- every field is read as unknown
    const value: unknown = JSON.parse(text)
    const rows: unknown =
      typeof value === "object" && value !== null && "data" in value ? value.data : undefined
    if (!Array.isArray(rows)) return undefined
    return rows.slice(0, MOST_MODELS).flatMap((row: unknown) => {
      const id = typeof row === "object" && row !== null && "id" in row ? row.id : undefined
      return typeof id === "string" && /^[\x21-\x7E]{1,200}$/.test(id) ? [id] : []
    })
  } catch {
    return undefined
  }
}
