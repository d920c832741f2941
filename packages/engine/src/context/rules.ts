/** Conditional rules of the project and of the user, from the folders that every host reads, matched by continuity. */
import { join } from "node:path"

import {
  evaluateRules,
  openRuleShelf,
  promptPaths,
  renderRules,
  ruleFolders,
  touchPaths,
  withNearPaths,
} from "@meridian/continuity"

import type { ContextSource } from "../port/context-source.ts"
import type { LookUp } from "./look-up.ts"
import { textOf } from "./value-text.ts"

export const rulesSource = (options: {
  readonly root: string
  readonly directory: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly platform: string
  readonly lookUp: LookUp
}): ContextSource => {
  const folders = ruleFolders(options, options.environment)
  const places = folders.map(({ root, path }) => join(root, path))
  const shelf = openRuleShelf(() => folders)
  return {
    key: "core/rules",
    observe: ({ agent, model, prompt, tools, workingSet }) => {
      // Checked every turn, and most projects have none.
      if (!places.some((place) => isThere(options.lookUp, place))) return { kind: "absent" }
      const { rules } = shelf.read()
      const { active } = evaluateRules(rules, {
        // Paths in the prompt count too: a rule for a new file is needed before that file is written.
        paths: withNearPaths(touchPaths([], [...workingSet(), ...promptPaths(prompt)], options), options),
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

/** Rules in an unreadable place count as absent. */
const isThere = (lookUp: LookUp, path: string): boolean => {
  try {
    return lookUp(path) !== undefined
  } catch {
    return false
  }
}
