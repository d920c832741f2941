/**
 * What prompts name, found when they are admitted. A prompt that was admitted before is what it was: nothing is looked up
 * again, however the files stand by now.
 */
import type { Failure, Prompt, RecordedPrompt } from "@meridian/protocol"
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
      if (!NAMES_SOMETHING.test(prompt.text)) return request
      if (id !== undefined && (yield* store.input(id)) !== undefined) return request
      const { transcript } = yield* sessions.current(sessionID)
      // What is not here cannot be looked into: it stays as it was said.
      if (!settings.places.has(transcript.choices.location)) return request
      const directory = yield* fromThrowing(() => settings.places.directoryOf(transcript.choices.location))
      return yield* locations.within(directory, (location) =>
        Effect.map(look(location, prompt, rulesOf(transcript, settings)), (expanded) =>
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

/** Most prompts name nothing. */
const NAMES_SOMETHING = /@|^\/|file:\/\//u

const look = (
  location: LocationServices,
  prompt: Prompt,
  rules: readonly PermissionRule[],
): Effect.Effect<Expanded> =>
  Effect.promise((signal) =>
    location.expand({
      text: prompt.text,
      spareBytes: LIMITS.promptBytes - promptBytes(prompt),
      signal,
      may: (action, resource) => decidePermission({ action, resources: [resource] }, rules, []).kind,
      agent: (name) => ({ problem: `There is no agent ${name}.` }),
    }),
  )

const rulesOf = ({ choices }: Transcript, settings: SettingsValue): readonly PermissionRule[] => [
  ...settings.rules,
  ...(settings.agents.get(choices.agent ?? DEFAULT_AGENT)?.rules ?? []),
]

const besides = (location: LocationServices, { read }: Expanded): readonly string[] => [
  ...new Set(read.flatMap(({ path, reference }) => location.instructionsBeside(path, reference))),
]
