/** Providers that need no table in `config.toml`: we know their address, and the variables people keep their keys in. */
export const PROVIDER_KINDS = ["anthropic", "openai", "google", "openai-compatible"] as const
export type ProviderKind = (typeof PROVIDER_KINDS)[number]

export interface ProviderPreset {
  readonly kind: ProviderKind
  /** Undefined: the provider's own library knows it. */
  readonly address?: string
  /** The first variable that is set counts. Empty: no key is needed. */
  readonly keys: readonly string[]
  /** A variable that overrides the address. */
  readonly addressVariable?: string
  /** Runs on the user's own machine: used only if it is configured or its variable is set. */
  readonly local?: true
  /** Listed even if nothing is set, to show what is missing. */
  readonly known?: true
  /** Models to try when none was chosen; the first that the catalogue knows is taken. */
  readonly preferred?: readonly string[]
}

/** In the order in which a model is looked for when none was chosen. */
export const PROVIDER_PRESETS: Readonly<Record<string, ProviderPreset>> = {
  anthropic: {
    kind: "anthropic",
    keys: ["ANTHROPIC_API_KEY"],
    addressVariable: "ANTHROPIC_BASE_URL",
    known: true,
    preferred: ["claude-sonnet-5-5", "claude-sonnet-4-6"],
  },
  openai: {
    kind: "openai",
    keys: ["OPENAI_API_KEY"],
    addressVariable: "OPENAI_BASE_URL",
    known: true,
    preferred: ["gpt-6.1-sol", "gpt-5.3-codex"],
  },
  google: {
    kind: "google",
    keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
    addressVariable: "GOOGLE_GEMINI_BASE_URL",
    known: true,
    preferred: ["gemini-3.8-flash", "gemini-2.5-pro"],
  },
  openrouter: {
    kind: "openai-compatible",
    address: "https://openrouter.ai/api/v1",
    keys: ["OPENROUTER_API_KEY"],
    known: true,
    preferred: ["anthropic/claude-sonnet-5.5", "anthropic/claude-sonnet-4.6"],
  },
  ollama: {
    kind: "openai-compatible",
    address: "http://127.0.0.1:11434/v1",
    keys: [],
    addressVariable: "OLLAMA_HOST",
    local: true,
    known: true,
  },
  lmstudio: {
    kind: "openai-compatible",
    address: "http://127.0.0.1:1234/v1",
    keys: [],
    local: true,
    known: true,
  },
  vllm: {
    kind: "openai-compatible",
    address: "http://127.0.0.1:8000/v1",
    keys: [],
    local: true,
    known: true,
  },
  deepseek: { kind: "openai-compatible", address: "https://api.deepseek.com/v1", keys: ["DEEPSEEK_API_KEY"] },
  groq: { kind: "openai-compatible", address: "https://api.groq.com/openai/v1", keys: ["GROQ_API_KEY"] },
  mistral: { kind: "openai-compatible", address: "https://api.mistral.ai/v1", keys: ["MISTRAL_API_KEY"] },
  xai: { kind: "openai-compatible", address: "https://api.x.ai/v1", keys: ["XAI_API_KEY"] },
}

/** Needs no key and only repeats its prompt, so that everything but the thinking can be tried. */
export const ECHO_MODEL = "meridian/echo"
