/**
 * The tools of one Location. Contributions are layered: the last one with a name wins, and closing it reveals the one
 * below. A turn works with a materialisation, which remembers the contribution of each advertised tool. When that
 * contribution has been replaced or closed, a call is refused, because the model was promised another tool.
 */
import { isJsonObject, nearest, type Json } from "@meridian/protocol"

import type { TraitsOf } from "../domain/tool-traits.ts"
import type { ToolAdvertisement } from "../port/model.ts"
import { ToolError, type Tool, type ToolOutput, type ToolScene } from "../port/tool.ts"
import { boundOutput } from "./bound-output.ts"
import { errorLine } from "./describe-error.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { openStoppedCalls } from "./stopped-calls.ts"
import { isToolOutput } from "./tool-output.ts"

export interface Contribution {
  /** Closing twice does nothing. */
  readonly close: () => void
}

export interface Materialization {
  /** Sorted by name, so that the same tools make the same request. */
  readonly advertisements: readonly ToolAdvertisement[]
  readonly traitsOf: TraitsOf
  /** Decodes, authorises, runs, checks and bounds. Every failure is a ToolError. */
  readonly call: (name: string, input: Json, scene: ToolScene) => Promise<ToolOutput>
}

export interface ToolRegistry {
  /** Throws TypeError for a name or description that no provider accepts, before contributing anything. */
  readonly contribute: (tools: readonly Tool[]) => Contribution
  /** The same object until a contribution is added or closed, so callers may cache by identity. */
  readonly materialize: () => Materialization
}

const NAME = new RegExp(`^[A-Za-z][A-Za-z0-9_-]{0,${TOOL_LIMITS.toolNameCharacters - 1}}$`)

export interface ToolRegistryOptions {
  readonly outputDirectory: string
  /** Removes credentials from a tool's answer, which is recorded and sent to a provider. */
  readonly hide?: ((text: string) => string) | undefined
}

export const openToolRegistry = (options: ToolRegistryOptions): ToolRegistry => {
  const stacks = new Map<string, readonly Registration[]>()
  const stopped = openStoppedCalls()
  let current: Materialization | undefined

  const remove = (registration: Registration): void => {
    current = undefined
    const { name } = registration.tool.advertisement
    const left = (stacks.get(name) ?? []).filter((other) => other !== registration)
    if (left.length === 0) stacks.delete(name)
    else stacks.set(name, left)
  }

  const contribute = (tools: readonly Tool[]): Contribution => {
    for (const tool of tools) checkAdvertisement(tool.advertisement)
    const registrations = tools.map((tool): Registration => ({ tool }))
    current = undefined
    for (const registration of registrations) {
      const { name } = registration.tool.advertisement
      stacks.set(name, [...(stacks.get(name) ?? []), registration])
    }
    return { close: () => registrations.forEach(remove) }
  }

  const capture = (): Materialization => {
    const captured = new Map<string, Registration>()
    for (const name of [...stacks.keys()].sort()) {
      const top = stacks.get(name)?.at(-1)
      if (top !== undefined) captured.set(name, top)
    }
    return {
      advertisements: [...captured.values()].map(({ tool }) => tool.advertisement),
      traitsOf: (name) => captured.get(name)?.tool.traits ?? {},
      call: async (name, input, scene) => {
        const registration = captured.get(name)
        if (registration === undefined) throw unknownTool(name, [...captured.keys()])
        if (stacks.get(name)?.at(-1) !== registration)
          throw new ToolError(
            "stale-tool",
            `The tool ${name} was replaced or removed since it was offered; the next request offers what there is now.`,
          )
        return stopped.run({ name, input, scene }, () => settle(registration.tool, input, scene, options))
      },
    }
  }

  return { contribute, materialize: () => (current ??= capture()) }
}

/** One per contribution and tool. Compared by identity. */
interface Registration {
  readonly tool: Tool
}

const settle = async (
  tool: Tool,
  input: Json,
  scene: ToolScene,
  { outputDirectory, hide }: ToolRegistryOptions,
): Promise<ToolOutput> => {
  const output: unknown = await tool.execute(input, scene).catch((error: unknown) => {
    const failure = asToolError(error, scene)
    if (hide === undefined || hide(failure.message) === failure.message) throw failure
    throw new ToolError(failure.code, hide(failure.message))
  })
  if (!isToolOutput(output))
    throw new ToolError(
      "invalid-output",
      `The tool ${tool.advertisement.name} answered in a form that is not a tool's output.`,
    )
  const shown = hide === undefined ? output : hideOutput(output, hide)
  return boundOutput(shown, outputDirectory, { selfBounded: "boundsOwnOutput" in tool })
}

const hideOutput = (output: ToolOutput, hide: (text: string) => string): ToolOutput => {
  const content = output.content.map((part) =>
    part.type === "text" && hide(part.text) !== part.text ? { type: part.type, text: hide(part.text) } : part,
  )
  const { structured } = output
  return {
    ...output,
    content,
    ...(structured === undefined ? {} : { structured: hideStructured(structured, hide) }),
  }
}

const hideStructured = <Value extends Json>(value: Value, hide: (text: string) => string): Value => {
  const text = JSON.stringify(value)
  const shown = hide(text)
  // oxlint-disable-next-line eslint/no-restricted-properties, typescript/no-unsafe-type-assertion -- the value itself, one text replaced
  return shown === text ? value : (JSON.parse(shown) as Value)
}

const asToolError = (error: unknown, scene: ToolScene): ToolError => {
  if (error instanceof ToolError) return error
  if (scene.signal.aborted) return new ToolError("interrupted", "The call was interrupted.", { cause: error })
  return new ToolError("failed", errorLine(error), { cause: error })
}

const unknownTool = (name: string, known: readonly string[]): ToolError => {
  const near = nearest(name, known)
  const hint = near === undefined ? `The tools are: ${known.join(", ")}.` : `Did you mean ${near}?`
  return new ToolError("unknown-tool", `There is no tool ${JSON.stringify(name.slice(0, 100))}. ${hint}`)
}

const checkAdvertisement = ({ name, description, input }: ToolAdvertisement): void => {
  if (!NAME.test(name))
    throw new TypeError(
      `not a valid tool name: ${JSON.stringify(name.slice(0, 100))} (letters, digits, _ and -, at most 64, a letter first)`,
    )
  if (description.length > TOOL_LIMITS.descriptionCharacters)
    throw new TypeError(
      `the description of ${name} is longer than ${TOOL_LIMITS.descriptionCharacters} characters`,
    )
  if (!isJsonObject(input)) throw new TypeError(`the input schema of ${name} must be an object`)
}
