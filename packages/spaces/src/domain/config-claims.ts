/**
 * What a project's `config.toml` would decide for the person working in the folder: programs, addresses, variables,
 * folders outside it, and rights. Everything else in the file is the project's own business and simply counts.
 */
import type { ClaimKind, ConfigClaim } from "./claim.ts"
import { makeClaim, staysInside, valueAt, withoutPart } from "./config-claim.ts"
import type { ConfigFile, Settings } from "./config-layer.ts"
import { isOptionKey, OPTION_KEYS, optionOf, type OptionKey } from "./config-option.ts"
import { parseSeconds } from "./duration.ts"
import { engineClaims } from "./engine-claims.ts"
import { isPermissionRules, ruleWords } from "./engine-table-rules.ts"
import { decodeJson } from "./json-line.ts"
import { publicAddress } from "./provider-address.ts"
import { PROVIDER_PRESETS } from "./provider-preset.ts"
import { isLooser, SANDBOX_MODES, type SandboxWish } from "./sandbox.ts"
import { isTable } from "./table-rule.ts"
import { asFileTier, highestTier, isAbove, type FileTier } from "./tier.ts"
import { isCovered, type TrustEntry } from "./trust.ts"

export interface IgnoredClaim {
  readonly claim: ConfigClaim
  readonly why: "untrusted" | "changed" | "tier" | "guard" | "own" | "sandbox" | "cap"
}

/** The tiers the user gave: the most a folder's files may wish for. */
export interface Ceilings {
  readonly run: FileTier
  /** Undefined: the user gave none for conversations, so the harness asks. */
  readonly primary: FileTier | undefined
  /** The user wants instruction files guarded. No file of a folder can switch that off. */
  readonly guardsInstructions: boolean
  readonly sandbox: SandboxWish
  /** The budgets the user set, by key. A folder's files may lower them. */
  readonly budget: Readonly<Record<string, number>>
}

export const claimsOf = (file: ConfigFile): readonly ConfigClaim[] => [
  ...OPTION_KEYS.flatMap((key) => optionClaim(file, key) ?? []),
  ...providerClaims(file),
  ...engineClaims(file),
]

/** `own` are the settings without the project's file. */
export const ceilingsOf = (own: Settings, entry: TrustEntry | undefined): Ceilings => ({
  run: highestTier(asFileTier(own.get("permissions.default_tier")?.value), entry?.tier) ?? "read-only",
  primary: highestTier(asFileTier(own.get("primary.permission_tier")?.value), entry?.tier),
  guardsInstructions: own.get(GUARD)?.value === true,
  sandbox: {
    mode: SANDBOX_MODES.find((mode) => mode === own.get("sandbox.mode")?.value) ?? "off",
    network: own.get("sandbox.network")?.value === "off" ? "off" : "on",
  },
  budget: Object.fromEntries(
    OPTION_KEYS.filter(isBudget).flatMap((key) => {
      const amount = amountOf(own.get(key)?.value)
      return amount === undefined ? [] : [[key, amount] as const]
    }),
  ),
})

export const judgeClaims = (
  claims: readonly ConfigClaim[],
  { entry, ceilings }: { readonly entry: TrustEntry | undefined; readonly ceilings: Ceilings },
): readonly IgnoredClaim[] =>
  claims.flatMap((claim): readonly IgnoredClaim[] => {
    const trusted = entry?.tier !== undefined
    if (claim.key === GUARD)
      return ceilings.guardsInstructions && claim.value === "false" ? [{ claim, why: "guard" }] : []
    if (claim.key === "sandbox.mode" || claim.key === "sandbox.network")
      return isLooser(ceilings.sandbox, { key: claim.key, value: claim.value.slice(1, -1) })
        ? [{ claim, why: "sandbox" }]
        : []
    if (isBudget(claim.key)) return lowers(claim, ceilings) ? [] : [{ claim, why: "cap" }]
    if (isOptionKey(claim.key) && optionOf(claim.key).isOwn === true) return [{ claim, why: "own" }]
    if (TIERS.has(claim.key))
      return staysBelow(claim, ceilings) ? [] : [{ claim, why: trusted ? "tier" : "untrusted" }]
    return isCovered(claim, entry) ? [] : [{ claim, why: trusted ? "changed" : "untrusted" }]
  })

/** The file as if it did not set these keys. */
export const withoutClaims = (file: ConfigFile, claims: readonly ConfigClaim[]): ConfigFile => ({
  ...file,
  tree: claims.reduce<unknown>((tree, { parts }) => withoutPart(tree, parts), file.tree),
})

const isBudget = (key: string): boolean => key.startsWith("budget.")

/**
 * A lower budget only takes away, so it needs no trust. A value that is not an amount is refused by the layer, with
 * its place.
 */
const lowers = ({ key, value }: ConfigClaim, { budget }: Ceilings): boolean => {
  const amount = amountOf(decodeJson(value))
  const own = budget[key]
  return amount === undefined || own === undefined || amount <= own
}

const amountOf = (value: unknown): number | undefined =>
  typeof value === "string" ? parseSeconds(value) : typeof value === "number" ? value : undefined

const GUARD = "permissions.guard_instructions"
const RULES = "permissions.rules"

/** Keys whose values are tiers, held to the ceiling. Other rights count only where exactly they were trusted. */
const TIERS: ReadonlySet<string> = new Set(["permissions.default_tier", "primary.permission_tier"])

/** A value that is not a tier wishes for nothing. The layer refuses it, with its place. */
const staysBelow = ({ key, value }: ConfigClaim, ceilings: Ceilings): boolean => {
  const wished = asFileTier(value.slice(1, -1))
  const ceiling = key === "permissions.default_tier" ? ceilings.run : (ceilings.primary ?? "read-only")
  return wished === undefined || !isAbove(wished, ceiling)
}

const optionClaim = (file: ConfigFile, key: OptionKey): ConfigClaim | undefined => {
  const { claims: kind } = optionOf(key)
  const parts = key.split(".")
  const value = kind === undefined ? undefined : valueAt(file.tree, parts)
  if (kind === undefined || value === undefined) return undefined
  if (kind === "folder" && !key.startsWith("search_paths.global_") && areInside(value)) return undefined
  if (key === RULES && onlyDenies(value)) return undefined
  const shown = isPermissionRules(value) ? value.map(ruleWords).join(", ") : show(value)
  return makeClaim(file, { kind, key, parts, value, shown })
}

const areInside = (value: unknown): boolean => Array.isArray(value) && value.every(staysInside)

/** Rules that only deny take rights away, so they need no trust. */
const onlyDenies = (value: unknown): boolean =>
  isPermissionRules(value) && value.every(({ effect }) => effect === "deny")

const PROVIDER_CLAIMS: Readonly<Record<string, ClaimKind>> = {
  base_url: "address",
  api_key_env: "variable",
  headers: "header",
}

const providerClaims = (file: ConfigFile): readonly ConfigClaim[] => {
  const tables = valueAt(file.tree, ["providers"])
  if (!isTable(tables)) return []
  return Object.entries(tables).flatMap(([name, row]) =>
    isTable(row) ? rowClaims(file, name, row).concat(presetClaim(file, name, row)) : [],
  )
}

const rowClaims = (
  file: ConfigFile,
  name: string,
  row: Readonly<Record<string, unknown>>,
): readonly ConfigClaim[] =>
  Object.entries(PROVIDER_CLAIMS).flatMap(([field, kind]) => {
    const value = row[field]
    if (value === undefined) return []
    const parts = ["providers", name, field]
    const shown = typeof value === "string" ? publicAddress(value) : show(value)
    return [makeClaim(file, { kind, key: parts.join("."), parts, value, shown })]
  })

/** The table of a local preset opens an address on this machine by its mere presence. */
const presetClaim = (
  file: ConfigFile,
  name: string,
  row: Readonly<Record<string, unknown>>,
): readonly ConfigClaim[] => {
  const preset = Object.hasOwn(PROVIDER_PRESETS, name) ? PROVIDER_PRESETS[name] : undefined
  if (preset?.local !== true || row["base_url"] !== undefined) return []
  const parts = ["providers", name]
  const value = preset.address ?? name
  return [makeClaim(file, { kind: "address", key: parts.join("."), parts, value, shown: value })]
}

const show = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))
