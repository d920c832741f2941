/**
 * Flags of harnesses that widen what an agent may do. A person gives them for one launch. They are recorded with the
 * chat, but a continuation does not repeat them; it has the rights given now. Pure.
 */
import { isAcp, type BuiltInHarness, type HarnessId } from "../port/harness.ts"
import { groupParams, type ParamGroup } from "./params.ts"

export interface Narrowed {
  readonly params: readonly string[]
  /** The flags that were left out. */
  readonly dropped: readonly string[]
}

export const withoutRights = (harness: HarnessId, recorded: readonly string[]): Narrowed => {
  const groups = groupParams(harness, recorded)
  const [widening, others] = [
    groups.filter((group) => widens(harness, group)),
    groups.filter((group) => !widens(harness, group)),
  ]
  return {
    params: others.flatMap((group) => group.words),
    dropped: [...new Set(widening.map(({ flag = "" }) => flag))],
  }
}

/** Each by its longest name, as in `flags.ts`. */
const WIDENING: Readonly<Record<BuiltInHarness, ReadonlySet<string>>> = {
  claude: new Set([
    "--add-dir",
    "--allow-dangerously-skip-permissions",
    "--allowedTools",
    "--dangerously-skip-permissions",
    "--mcp-config",
    "--permission-mode",
    "--permission-prompt-tool",
    "--permission-prompts",
    "--plugin-dir",
    "--plugin-url",
    "--setting-sources",
    "--settings",
  ]),
  codex: new Set([
    "--add-dir",
    "--approve-for-me",
    "--ask-for-approval",
    "--dangerously-bypass-approvals-and-sandbox",
    "--dangerously-bypass-hook-trust",
    "--enable",
    "--ignore-rules",
    "--profile",
    "--remote",
    "--sandbox",
  ]),
  opencode: new Set(["--attach", "--auto"]),
  direct: new Set(),
}

/** Codex settings that decide what may run, and where. */
const CODEX_SETTING =
  /^(sandbox|approval|approvals|mcp_servers|hooks|notify|shell_environment|projects|profiles?|tools|features|permissions|model_providers)/

const widens = (harness: HarnessId, { flag, words }: ParamGroup): boolean => {
  if (flag === undefined) return false
  // We cannot know what a flag means to a custom agent.
  if (isAcp(harness)) return true
  if (harness !== "codex" || flag !== "--config") return WIDENING[harness].has(flag)
  const [first = "", second = ""] = words
  return CODEX_SETTING.test(
    first.includes("=") && !first.startsWith("-c") ? first.slice(first.indexOf("=") + 1) : second,
  )
}
