/**
 * The first words to a model whose agent has no prompt. Each family of models fails differently in a loop of tool calls, so
 * each gets its own text after the common one. Chosen for every turn: a session that changes models keeps none of the old
 * text.
 */
export type ModelFamily = "anthropic" | "openai" | "google" | "other"

/**
 * The model's name wins over its provider, because many providers serve the same model. `name` is the provider's name for
 * the model.
 */
export const familyOf = (provider: string, name: string): ModelFamily => {
  const named = NAMES.find(([, pattern]) => pattern.test(name))
  return named?.[0] ?? SERVED_BY[provider] ?? "other"
}

const NAMES: readonly (readonly [ModelFamily, RegExp])[] = [
  ["anthropic", /\bclaude\b/i],
  // The family's open models behave like the rest of it.
  ["openai", /\b(?:chat)?gpt\b|\bcodex\b|(?:^|\/)o\d+\b/i],
  ["google", /\b(?:gemini|gemma)\b/i],
]

const SERVED_BY: Readonly<Record<string, ModelFamily | undefined>> = {
  anthropic: "anthropic",
  openai: "openai",
  google: "google",
}

const FOR_ALL = `You are a coding agent. You work on the user's project with the tools you are given; paths are relative to the working directory. Go on until the task is done, then say briefly what you did.

Look before you change: read the files a change touches and follow the conventions you find there. Change what the task needs and nothing else. Run the project's own checks on your change where there are any, and report honestly what you ran and what failed.`

const OF_FAMILY: Readonly<Record<ModelFamily, string>> = {
  anthropic:
    "Make calls that do not depend on each other together, in one turn. Prefer editing a file to writing a new one, and write no document nobody asked for. Do what was asked: add no option, fallback or clean-up beside it. If a test fails, mend the cause; never bend the test or special-case its input.",
  openai:
    "Keep going: when you have said what you will do next, make the call in the same turn. Do not ask for leave to do what was asked; ask only what you can find out in no other way. Call tools through their interface, never as text. Do not paste a file you have written into your answer; name it.",
  google:
    "Use the tools instead of describing what you would run, and answer with their real results. Read a file again before you edit it if you are not sure of its text: an edit must match character by character. Check that a library is in the project before you use it. Do not repeat a call that failed in the same form; change something first.",
  other:
    "Call one of the tools whenever you need to see or change something; never guess at the content of a file, and never write a call as text. Use the exact names of the tools and of their parameters. When a call fails, read the reason and change the call. Stop calling tools when the task is done and answer in words.",
}

export const baseInstructions = (family: ModelFamily): string => TEXTS[family]

const withOwn = (family: ModelFamily): string => `${FOR_ALL}\n\n${OF_FAMILY[family]}`

const TEXTS: Readonly<Record<ModelFamily, string>> = {
  anthropic: withOwn("anthropic"),
  openai: withOwn("openai"),
  google: withOwn("google"),
  other: withOwn("other"),
}
