/**
 * What the prompt of a run names, for harnesses other than ours. An engine that lives only for this question admits the
 * prompt under the rules of the run and is asked what it found.
 */
import { attachedText, openEngine, promptText } from "@meridian/engine"
import { Failure, type PromptPart } from "@meridian/protocol"
import { readAgentProfiles, type World } from "@meridian/spaces"

import { loadConfiguredEngine } from "./configured-engine.ts"
import { loadEngineAgents } from "./engine-agents.ts"
import { unreadable } from "./named-things.ts"
import { permissionRules } from "./permission-rules.ts"

type LookUp = NonNullable<World["lookUpNames"]>

export const lookUpNames = async (
  { text, directory, permission, agent }: Parameters<LookUp>[0],
  world: World,
): Promise<Awaited<ReturnType<LookUp>>> => {
  const [configured, agents, profiles] = await Promise.all([
    loadConfiguredEngine(world),
    loadEngineAgents(world),
    readAgentProfiles(world),
  ])
  const engine = await openEngine({
    ...configured.options,
    database: ":memory:",
    models: [],
    agents,
    // Servers are started only for a prompt that names one.
    mcp: text.includes("@mcp:") ? configured.mcp : {},
    permissions: [
      ...permissionRules({
        servers: [],
        rules: configured.rules,
        ...(permission === undefined ? {} : { permission }),
      }),
      // This process is in no sandbox.
      { action: "bash", resource: "*", effect: "deny" },
    ],
  })
  try {
    const { id } = await engine.sessions.create({ location: { directory } })
    if (agents.some(({ name, mode }) => name === agent && mode !== "sub"))
      await engine.sessions.switchAgent({ sessionID: id, agent: agent ?? "" })
    const receipt = await engine.sessions.prompt({
      sessionID: id,
      prompt: { text },
      expand: true,
      resume: false,
    })
    if (receipt.prompt.parts === undefined) return undefined
    const known = new Set(profiles.map(({ name }) => name))
    const prompt = { ...receipt.prompt, parts: receipt.prompt.parts.map((part) => asRun(part, known)) }
    return {
      words: promptText(prompt),
      attached: attachedText(prompt.parts),
      unreadable: unreadable(prompt),
    }
  } catch (error) {
    // The folder is gone, or the engine refuses the words. The prompt goes as it is.
    if (!(error instanceof Failure)) throw error
    return { words: text, attached: "", unreadable: [error.message] }
  } finally {
    await engine.close()
  }
}

/** Another harness has no task tool of ours. It starts an agent as a run, which takes a profile. */
const asRun = (part: PromptPart, profiles: ReadonlySet<string>): PromptPart => {
  if (part.type !== "text" || part.kind !== "agent") return part
  const { source, name } = part
  return profiles.has(name)
    ? {
        ...part,
        text: `The user refers to the agent ${name}. Where the request asks for its work, run: meridian run spawn -a ${name} -p "everything it has to know"`,
      }
    : {
        type: "unreadable",
        source,
        problem: `The agent ${name} works only in sessions of the direct harness.`,
      }
}
