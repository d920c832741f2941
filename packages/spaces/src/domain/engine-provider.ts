/** Whether a provider can be asked now: its address, its key, or what is missing. Pure: a key is named, not read. */
import { fullAddress, hostOf, isLoopback, ollamaAddress } from "./provider-address.ts"
import { PROVIDER_PRESETS, type ProviderKind, type ProviderPreset } from "./provider-preset.ts"
import type { ProviderSettings, ProviderTables } from "./provider-table.ts"

type Environment = Readonly<Record<string, string | undefined>>

/** Where the key is. `given` means that it is in the user's own file. */
export type KeySource =
  | { readonly tag: "none" }
  | { readonly tag: "variable"; readonly name: string }
  | { readonly tag: "given"; readonly key: string }

export interface Connection {
  readonly kind: ProviderKind
  /** Undefined: the provider's default address. */
  readonly address?: string
  readonly key: KeySource
  readonly headers: Readonly<Record<string, string>>
}

export type ProviderState =
  | { readonly tag: "usable"; readonly name: string; readonly connection: Connection }
  | { readonly tag: "unusable"; readonly name: string; readonly why: string }

/** The providers of the tables first, in their order, then the presets that are known or have a variable set. */
export const providerStates = (tables: ProviderTables, env: Environment): readonly ProviderState[] => {
  const presets = Object.entries(PROVIDER_PRESETS).filter(
    ([name, preset]) => !tables.providers.has(name) && (preset.known === true || isSet(preset, env)),
  )
  return [...tables.providers.keys(), ...presets.map(([name]) => name)].map((name) =>
    providerState(name, tables, env),
  )
}

export const providerState = (name: string, tables: ProviderTables, env: Environment): ProviderState => {
  const settings = tables.providers.get(name)
  const preset = Object.hasOwn(PROVIDER_PRESETS, name) ? PROVIDER_PRESETS[name] : undefined
  const unusable = (why: string): ProviderState => ({ tag: "unusable", name, why })
  if (settings === undefined && preset === undefined)
    return unusable(`no such provider: add [providers.${name}] to config.toml`)
  const kind = settings?.kind ?? preset?.kind ?? "openai-compatible"
  const address = findAddress({ name, kind, settings, preset, env })
  if (address.tag === "wrong") return unusable(`${address.variable} is no address`)
  if (address.tag === "missing") {
    const variable = preset?.addressVariable === undefined ? "" : `${preset.addressVariable} or `
    return unusable(`no address: set ${variable}providers.${name}.base_url`)
  }
  const { url } = address
  const key = findKey(settings, preset, env)
  if (key.tag === "missing") return unusable(`set ${key.variable}`)
  // If a project names an address, it must not get a key that was meant for another.
  if (key.tag === "variable" && settings?.api_key_env === undefined && tables.foreignAddress.has(name)) {
    if (url !== undefined && !isLoopback(url))
      return unusable(`say which key may go to ${hostOf(url)}: set providers.${name}.api_key_env`)
  }
  return {
    tag: "usable",
    name,
    connection: {
      kind,
      ...(url === undefined ? {} : { address: url }),
      key,
      headers: settings?.headers ?? {},
    },
  }
}

type Address =
  | { readonly tag: "address"; readonly url: string | undefined }
  | { readonly tag: "missing" }
  | { readonly tag: "wrong"; readonly variable: string }

const findAddress = (given: {
  readonly name: string
  readonly kind: ProviderKind
  readonly settings: ProviderSettings | undefined
  readonly preset: ProviderPreset | undefined
  readonly env: Environment
}): Address => {
  const { name, kind, settings, preset, env } = given
  if (settings?.base_url !== undefined) return { tag: "address", url: fullAddress(settings.base_url, kind) }
  const variable = preset?.addressVariable
  const told = variable === undefined ? "" : valueOf(variable, env)
  if (variable !== undefined && told !== "") {
    const url = name === "ollama" ? ollamaAddress(told) : fullAddress(told, kind)
    return url === undefined ? { tag: "wrong", variable } : { tag: "address", url }
  }
  if (preset?.local === true && settings === undefined) return { tag: "missing" }
  if (preset !== undefined && preset.kind === kind) return { tag: "address", url: preset.address }
  return kind === "openai-compatible" ? { tag: "missing" } : { tag: "address", url: undefined }
}

const findKey = (
  settings: ProviderSettings | undefined,
  preset: ProviderPreset | undefined,
  env: Environment,
): KeySource | { readonly tag: "missing"; readonly variable: string } => {
  if (settings?.api_key !== undefined) return { tag: "given", key: settings.api_key }
  const names = settings?.api_key_env === undefined ? keysOf(settings, preset) : [settings.api_key_env]
  const [first] = names
  if (first === undefined) return { tag: "none" }
  const name = names.find((candidate) => valueOf(candidate, env) !== "")
  return name === undefined ? { tag: "missing", variable: first } : { tag: "variable", name }
}

/** A custom name for a hosted kind uses the variable that kind usually has. */
const keysOf = (
  settings: ProviderSettings | undefined,
  preset: ProviderPreset | undefined,
): readonly string[] => {
  if (preset !== undefined) return preset.keys
  const kind = settings?.kind ?? "openai-compatible"
  return kind === "openai-compatible" ? [] : (PROVIDER_PRESETS[kind]?.keys ?? [])
}

const isSet = (preset: ProviderPreset, env: Environment): boolean =>
  [...preset.keys, preset.addressVariable ?? ""].some((name) => valueOf(name, env) !== "")

const valueOf = (name: string, env: Environment): string => (env[name] ?? "").trim()
