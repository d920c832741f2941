/** What a client may choose in a session: its agent, which ACP calls a mode, and its model. Pure. */
import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk"

import { ACP_LIMITS } from "./limits.ts"

export interface Choices {
  readonly agents: readonly string[]
  readonly agent: string
  readonly models: readonly string[]
  readonly model: string
}

export const modesOf = ({ agents, agent }: Choices): SessionModeState => ({
  currentModeId: agent,
  availableModes: withCurrent(agents, agent).map((name) => {
    const description = BUILT_IN[name]
    return description === undefined ? { id: name, name } : { id: name, name, description }
  }),
})

/** Clients that support options use them instead of modes, so the agent is also an option. */
export const configOptionsOf = (choices: Choices): SessionConfigOption[] => {
  const { currentModeId, availableModes } = modesOf(choices)
  return [
    {
      type: "select",
      id: "mode",
      name: "Agent",
      category: "mode",
      currentValue: currentModeId,
      options: availableModes.map(({ id, name, description }) => ({
        value: id,
        name,
        description: description ?? null,
      })),
    },
    {
      type: "select",
      id: "model",
      name: "Model",
      category: "model",
      currentValue: choices.model,
      options: withCurrent(choices.models.slice(0, ACP_LIMITS.models), choices.model).map((model) => ({
        value: model,
        name: model,
      })),
    },
  ]
}

const BUILT_IN: Readonly<Record<string, string | undefined>> = {
  build: "Works with every tool it may use.",
  plan: "Looks and plans, and changes nothing.",
}

/** A choice that is no longer offered is still the current one. */
const withCurrent = (names: readonly string[], current: string): readonly string[] =>
  names.includes(current) || current === "" ? names : [current, ...names]
