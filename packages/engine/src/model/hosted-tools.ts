/** Tools that a provider runs itself: our few names for them, and each provider's own. */
import type { LanguageModelV4ProviderTool } from "@ai-sdk/provider"

export const HOSTED_TOOLS = ["web_search", "web_fetch", "code_execution"] as const
export type HostedTool = (typeof HOSTED_TOOLS)[number]

type Known = Readonly<Record<HostedTool, Omit<LanguageModelV4ProviderTool, "type"> | undefined>>

const OF_PROVIDER: Readonly<Record<string, Known | undefined>> = {
  anthropic: {
    web_search: { id: "anthropic.web_search_20250305", name: "web_search", args: { maxUses: 10 } },
    web_fetch: { id: "anthropic.web_fetch_20250910", name: "web_fetch", args: { maxUses: 10 } },
    code_execution: { id: "anthropic.code_execution_20250825", name: "code_execution", args: {} },
  },
  openai: {
    web_search: { id: "openai.web_search", name: "web_search", args: {} },
    web_fetch: undefined,
    code_execution: { id: "openai.code_interpreter", name: "code_execution", args: {} },
  },
  google: {
    web_search: { id: "google.google_search", name: "web_search", args: {} },
    web_fetch: { id: "google.url_context", name: "web_fetch", args: {} },
    code_execution: { id: "google.code_execution", name: "code_execution", args: {} },
  },
}

/** Why this provider and model cannot run the tool; undefined when they can. */
export const hostedProblem = (
  tool: HostedTool,
  { provider, name }: { readonly provider: string; readonly name: string },
): string | undefined => {
  if (provider === "scripted") return undefined
  if (OF_PROVIDER[provider]?.[tool] === undefined) return `${provider} has no hosted tool ${tool}`
  // Older ones accept either their own tools or ours, and a session needs ours.
  return provider === "google" && /gemini-[12]\b|gemini-[12]\./.test(name)
    ? `${name} takes no hosted tool beside others; Gemini 3 does`
    : undefined
}

export const hostedTools = (
  provider: string,
  names: readonly string[],
): readonly LanguageModelV4ProviderTool[] =>
  HOSTED_TOOLS.filter((name) => names.includes(name)).flatMap((name) => {
    const known = OF_PROVIDER[provider]?.[name]
    return known === undefined ? [] : [{ type: "provider" as const, ...known }]
  })
