/**
 * What a project's tables for the engine would decide: programs and addresses of MCP servers, places elsewhere, and
 * rights of agents. A server is one claim with everything in its table: its variables and words decide as much as its
 * program.
 */
import type { ConfigClaim } from "./claim.ts"
import { makeClaim, staysInside, valueAt } from "./config-claim.ts"
import type { ConfigFile } from "./config-layer.ts"
import { isPermissionRules, ruleWords } from "./engine-table-rules.ts"
import { publicAddress } from "./provider-address.ts"
import { isTable } from "./table-rule.ts"

export const engineClaims = (file: ConfigFile): readonly ConfigClaim[] => [
  ...rowsOf(file, "mcp").map(([name, row]) => serverClaim(file, name, row)),
  ...rowsOf(file, "references").flatMap(([name, row]) => referenceClaim(file, name, row)),
  ...rowsOf(file, "agents").flatMap(([name, row]) => agentRights(file, name, row)),
]

const rowsOf = (file: ConfigFile, section: string): readonly (readonly [string, unknown])[] => {
  const table = valueAt(file.tree, [section])
  return isTable(table) ? Object.entries(table) : []
}

const serverClaim = (file: ConfigFile, name: string, row: unknown): ConfigClaim => {
  const { command, args = [], url, env, headers, ...others } = isTable(row) ? row : {}
  const words = [command, args].flat().map((word) => (typeof word === "string" ? word : JSON.stringify(word)))
  const names = [env, headers].flatMap((map) => (isTable(map) ? Object.keys(map) : []))
  const shown = [
    typeof url === "string" ? publicAddress(url) : words.join(" "),
    ...(names.length === 0 ? [] : [`with ${names.join(", ")}`]),
    ...Object.entries(others).map(([field, value]) => `${field} ${JSON.stringify(value)}`),
  ].join("; ")
  const parts = ["mcp", name]
  const kind = url === undefined ? "program" : "address"
  return makeClaim(file, { kind, key: parts.join("."), parts, value: row, shown })
}

const referenceClaim = (file: ConfigFile, name: string, row: unknown): readonly ConfigClaim[] => {
  const path = isTable(row) ? row["path"] : undefined
  if (path === undefined || staysInside(path)) return []
  const parts = ["references", name]
  const shown = typeof path === "string" ? path : JSON.stringify(path)
  return [makeClaim(file, { kind: "folder", key: parts.join("."), parts, value: row, shown })]
}

/** Any rules at all are a claim, because they replace those of an existing agent. */
const agentRights = (file: ConfigFile, name: string, row: unknown): readonly ConfigClaim[] => {
  const rules = isTable(row) ? row["permissions"] : undefined
  if (rules === undefined) return []
  const parts = ["agents", name, "permissions"]
  const shown = isPermissionRules(rules) ? rules.map(ruleWords).join(", ") : JSON.stringify(rules)
  return [makeClaim(file, { kind: "rights", key: parts.join("."), parts, value: rules, shown })]
}
