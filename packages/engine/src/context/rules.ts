/** Conditional rules of the project (`.meridian/rules`), as continuity reads and matches them. */
import { join } from "node:path"

import { evaluateRules, openRuleShelf, renderRules } from "@meridian/continuity"

import type { ContextSource } from "../port/context-source.ts"
import type { LookUp } from "./look-up.ts"
import { textOf } from "./value-text.ts"

const RULES = ".meridian/rules"

export const rulesSource = (options: {
  readonly root: string
  readonly platform: string
  readonly lookUp: LookUp
}): ContextSource => {
  const shelf = openRuleShelf(() => [{ root: options.root, path: RULES }])
  const folder = join(options.root, RULES)
  return {
    key: "core/rules",
    observe: ({ agent, model, prompt, tools, workingSet }) => {
      // Most projects have none, and this is asked every turn.
      if (!isThere(options.lookUp, folder)) return { kind: "absent" }
      const { rules } = shelf.read()
      const { active } = evaluateRules(rules, {
        paths: workingSet,
        prompt,
        tools,
        models: [model, model.slice(model.indexOf("/") + 1)],
        agent,
        os: options.platform,
      })
      return active.length === 0 ? { kind: "absent" } : { kind: "value", value: renderRules(active).text }
    },
    baseline: (value) => textOf(value),
    update: (_previous, value) =>
      `The rules in force changed. These supersede all rules given before:\n\n${textOf(value)}`,
    removal: () => "The rules given before are no longer in force.",
  }
}

/** Rules nobody may read are none. */
const isThere = (lookUp: LookUp, path: string): boolean => {
  try {
    return lookUp(path) !== undefined
  } catch {
    return false
  }
}
