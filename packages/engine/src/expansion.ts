/**
 * Expands what prompts name when they are admitted. A prompt that was admitted before stays the same: nothing is looked up
 * again, whatever the files contain now.
 */
import { namesSomething, nearest, type Failure, type Prompt, type RecordedPrompt } from "@meridian/protocol"
import { Effect } from "effect"

import { promptBytes, type PromptRequest } from "./check-input.ts"
import { LIMITS } from "./domain/limits.ts"
import { decidePermission, type PermissionRule } from "./domain/permission.ts"
import type { Transcript } from "./domain/transcript/transcript.ts"
import { fromThrowing } from "./port/from-throwing.ts"
import type { CommandTemplate, Expanded, LocationServices } from "./port/location.ts"
import { Store } from "./port/store.ts"
import { DEFAULT_AGENT, FoldedSessions, Locations, Settings, type SettingsValue } from "./session/index.ts"

export interface Expansion extends Omit<PromptRequest, "prompt"> {
  readonly prompt: RecordedPrompt
  /** Instruction files beside what it names. */
  readonly discovered?: readonly string[]
}

export const openExpansion = Effect.gen(function* () {
  const store = yield* Store
  const sessions = yield* FoldedSessions
  const locations = yield* Locations
  const settings = yield* Settings

  const of = (request: PromptRequest): Effect.Effect<Expansion, Failure> =>
    Effect.gen(function* () {
      const { prompt, id, sessionID } = request
      if (!namesSomething(prompt.text)) return request
      if (id !== undefined && (yield* store.input(id)) !== undefined) return request
      const { transcript } = yield* sessions.current(sessionID)
      // A place that is not on this machine cannot be searched. The prompt stays as it is.
      if (!settings.places.has(transcript.choices.location)) return request
      const directory = yield* fromThrowing(() => settings.places.directoryOf(transcript.choices.location))
      return yield* locations.within(directory, (location) =>
        Effect.map(look(location, prompt, transcript, settings), (expanded) =>
          expanded.parts.length === 0
            ? request
            : {
                ...request,
                prompt: { ...prompt, parts: expanded.parts },
                discovered: besides(location, expanded),
              },
        ),
      )
    })

  const commands = (sessionID: string): Effect.Effect<readonly CommandTemplate[], Failure> =>
    Effect.gen(function* () {
      const { transcript } = yield* sessions.current(sessionID)
      if (!settings.places.has(transcript.choices.location)) return []
      const directory = yield* fromThrowing(() => settings.places.directoryOf(transcript.choices.location))
      return yield* locations.within(directory, ({ templates }) => Effect.promise(templates))
    })

  return { of, commands }
})

const look = (
  location: LocationServices,
  prompt: Prompt,
  transcript: Transcript,
  settings: SettingsValue,
): Effect.Effect<Expanded> => {
  const rules = rulesOf(transcript, settings)
  const { agent = DEFAULT_AGENT, model } = transcript.choices
  return Effect.promise((signal) =>
    location.expand({
      text: prompt.text,
      spareBytes: LIMITS.promptBytes - promptBytes(prompt),
      signal,
      cast: { agent, model },
      may: (action, resource) => decidePermission({ action, resources: [resource] }, rules, []).kind,
      agent: (name) => guidanceFor(name, rules, settings),
    }),
  )
}

/** Tells the model what to do with an agent that a person named, or why it may not call it. */
const guidanceFor = (
  name: string,
  rules: readonly PermissionRule[],
  { agents }: SettingsValue,
): { readonly text: string } | { readonly problem: string } => {
  const agent = agents.get(name)
  if (agent === undefined) {
    const near = nearest(
      name,
      [...agents.values()].flatMap((one) => (one.hidden ? [] : [one.name])),
    )
    return { problem: `There is no agent ${name}.${near === undefined ? "" : ` Did you mean ${near}?`}` }
  }
  if (agent.mode === "primary")
    return { problem: `The agent ${name} works for people only; it cannot be given a part of the work.` }
  if (decidePermission({ action: "task", resources: [name] }, rules, []).kind === "deny")
    return { problem: `A rule forbids to give work to the agent ${name}.` }
  const says = agent.description === undefined ? "" : ` (${agent.description})`
  return {
    text: `The user refers to the agent ${name}${says}. Where the request asks for its work, call the tool task with agent "${name}" and a prompt that says everything it has to know.`,
  }
}

const rulesOf = ({ choices }: Transcript, settings: SettingsValue): readonly PermissionRule[] => [
  ...settings.rules,
  ...(settings.agents.get(choices.agent ?? DEFAULT_AGENT)?.rules ?? []),
]

const besides = (location: LocationServices, { read }: Expanded): readonly string[] => [
  ...new Set(read.flatMap(({ path, reference }) => location.instructionsBeside(path, reference))),
]
