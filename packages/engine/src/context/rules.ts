/** Conditional rules of the project (`.meridian/rules`), as continuity reads and matches them. */
import { evaluateRules, openRuleShelf, renderRules } from "@meridian/continuity"

import type { ContextSource } from "../port/context-source.ts"
import { textOf } from "./value-text.ts"

export const rulesSource = (options: { readonly root: string; readonly platform: string }): ContextSource => {
  const shelf = openRuleShelf(() => [{ root: options.root, path: ".meridian/rules" }])
  return {
    key: "core/rules",
    observe: ({ agent, model, prompt, tools, workingSet }) => {
      const { rules } = shelf.read()
      const { active } = evaluateRules(rules, {
        paths: workingSet,
        prompt,
        tools,
        models: [model, model.slice(model.indexOf("/") + 1)],
        agent,
        os: options.platform,
      })
      if (active.length === 0) return Promise.resolve({ kind: "absent" })
      return Promise.resolve({ kind: "value", value: renderRules(active).text })
    },
    baseline: (value) => textOf(value),
    update: (_previous, value) =>
      `The rules in force changed. These supersede all rules given before:\n\n${textOf(value)}`,
    removal: () => "The rules given before are no longer in force.",
  }
}
