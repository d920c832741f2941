/** The rules that apply to a session now, as the block for its next request. */
import {
  evaluateRules,
  openRuleShelf,
  renderRules,
  ruleFolders,
  scaleTokens,
  type Place,
  type Rule,
} from "@meridian/continuity"

import type { ModelName } from "./history.ts"
import type { Host } from "./host.ts"
import type { Log } from "./log.ts"
import type { Options } from "./options.ts"
import type { Session } from "./session.ts"
import { openSurroundings } from "./situation.ts"
import type { HookTime, World } from "./world.ts"

export interface RulesLayer {
  /** Empty when no rule applies. Without the rules that the session was told in a silent message. */
  readonly textFor: (session: Session, time: HookTime, model?: ModelName) => Promise<string>
  /** All applicable rules for a silent message. `told`: what the session should remember as told. */
  readonly forMessage: (
    session: Session,
    time: HookTime,
  ) => Promise<{ readonly text: string; readonly told: ReadonlySet<string> }>
}

/** The share of the model's context window. */
const RULE_SHARE = 0.1

export const openRulesLayer = (given: {
  readonly place: Place
  readonly host: Host
  readonly log: Log
  readonly options: Options
  readonly world: World
}): RulesLayer => {
  const { place, host, log, options, world } = given
  const shelf = openRuleShelf(() => ruleFolders(place, world.environment), world.clock)
  const surroundings = openSurroundings(place, host, log, world)

  const activeFor = async (
    session: Session,
    time: HookTime,
    model: ModelName | undefined,
  ): Promise<readonly Rule[]> => {
    const { rules, warnings } = shelf.read(time.leftMs())
    for (const warning of warnings) log.warnOnce(`meridian: ${warning}`, { session: session.id })
    if (rules.length === 0) return []
    const { active, tooCostly } = evaluateRules(rules, await surroundings.of(session, rules, time, model))
    for (const { path } of tooCostly)
      log.warnOnce(`meridian: rule ${path} is inactive: its conditions cost too much to check`, {
        session: session.id,
      })
    return active
  }

  const render = (session: Session, active: readonly Rule[]): string => {
    const most = scaleTokens(options.maxRuleTokens, session.window, RULE_SHARE)
    const { text, leftOut } = renderRules(active, most)
    for (const { path } of leftOut)
      log.warnOnce(`meridian: rule ${path} is left out: more than ${most} tokens of rules`, {
        session: session.id,
      })
    return text
  }

  return {
    textFor: async (session, time, model) => {
      const active = await activeFor(session, time, model)
      return render(
        session,
        active.filter((rule) => !session.toldRules.has(identityOf(rule))),
      )
    },
    forMessage: async (session, time) => {
      const active = await activeFor(session, time, undefined)
      return { text: render(session, active), told: new Set(active.map(identityOf)) }
    },
  }
}

/** A changed rule counts as a different rule. */
const identityOf = ({ folder, path, body }: Rule): string => `${folder}\n${path}\n${body}`
