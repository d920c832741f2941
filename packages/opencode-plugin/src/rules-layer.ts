/** The rules that apply to a session now, as the block for its next request. */
import { evaluateRules, openRuleShelf, renderRules, type Place } from "@meridian/continuity"

import type { ModelName } from "./history.ts"
import type { Host } from "./host.ts"
import type { Log } from "./log.ts"
import type { Options } from "./options.ts"
import { rulesFolders } from "./place.ts"
import type { Session } from "./session.ts"
import { openSurroundings } from "./situation.ts"
import type { HookTime, World } from "./world.ts"

export interface RulesLayer {
  /** Empty when no rule applies. */
  readonly textFor: (session: Session, time: HookTime, model?: ModelName) => Promise<string>
}

export const openRulesLayer = (given: {
  readonly place: Place
  readonly host: Host
  readonly log: Log
  readonly options: Options
  readonly world: World
}): RulesLayer => {
  const { place, host, log, options, world } = given
  const shelf = openRuleShelf(() => rulesFolders(place, world), world.clock)
  const surroundings = openSurroundings(place, host, world)
  return {
    textFor: async (session, time, model) => {
      const { rules, warnings } = shelf.read(time.leftMs())
      for (const warning of warnings) log.warnOnce(`meridian: ${warning}`, { session: session.id })
      if (rules.length === 0) return ""
      const { active, tooCostly } = evaluateRules(rules, await surroundings.of(session, rules, time, model))
      for (const { path } of tooCostly)
        log.warnOnce(`meridian: rule ${path} is inactive: its conditions cost too much to check`, {
          session: session.id,
        })
      const { text, leftOut } = renderRules(active, options.maxRuleTokens)
      for (const { path } of leftOut)
        log.warnOnce(
          `meridian: rule ${path} is left out: more than ${options.maxRuleTokens} tokens of rules`,
          {
            session: session.id,
          },
        )
      return text
    },
  }
}
