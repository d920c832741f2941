/** `task`: another agent works on a part of the task, in a separate session with its own context. */
import { BOOLEAN, described, objectOf, text } from "@meridian/protocol"

import { SOME_TEXT, toolInput } from "../port/tool-input.ts"
import type { BuiltinTool, Tool } from "../port/tool.ts"
import { TOOL_LIMITS } from "./limits.ts"

/** Agents that may be called. */
export interface TaskOptions {
  readonly callable: readonly { readonly name: string; readonly description?: string | undefined }[]
}

const INPUT = toolInput(
  objectOf(
    {
      description: described(
        text({ pattern: /\S/, most: TOOL_LIMITS.taskTitleCharacters, like: "a few words" }),
        "What it is about, in a few words",
      ),
      prompt: described(
        text({ pattern: /\S/, most: TOOL_LIMITS.taskPromptCharacters, like: "the task" }),
        "The whole task: the agent knows nothing of this conversation. Say what to report back",
      ),
    },
    {
      agent: described(SOME_TEXT, "Name of the agent that works on it (default: one like you)"),
      background: described(
        BOOLEAN,
        "Do not wait: go on with other work, and get the result later as a message",
      ),
    },
  ),
)

export const taskTool = ({ callable }: TaskOptions): Tool => ({
  advertisement: {
    name: "task",
    description: [
      "Gives a part of the work to another agent, which works on it in a session of its own and reports back once. It may do at " +
        "most what you may. Several calls in one turn work side by side. Use it for searches that read a lot, and for parts that " +
        "do not depend on each other.",
      "Agents:",
      ...callable.map(
        ({ name, description = "" }) => `- ${name}${description === "" ? "" : `: ${description}`}`,
      ),
    ].join("\n"),
    input: INPUT.schema,
  },
  execute: async (raw, scene) => {
    const { description: title, prompt, agent, background = false } = INPUT.decode(raw)
    const {
      sessionID,
      agent: name,
      text: said,
      cost,
    } = await scene.task({ title, prompt, agent, background })
    const body =
      said === undefined
        ? "It works in the background. Go on with something else; its result comes as a message."
        : cut(said)
    return {
      content: [{ type: "text", text: `Session ${sessionID}, agent ${name}:\n\n${body}` }],
      structured: { sessionID, agent: name, background, cost },
    }
  },
})

export const TASK: BuiltinTool<TaskOptions> = {
  name: "task",
  traits: { waits: true, keepsResults: true, looking: { at: "session" } },
  open: taskTool,
}

/** The end matters most: it has the result. */
const cut = (said: string): string => {
  const { taskResultCharacters: most } = TOOL_LIMITS
  if (said.length <= most) return said.trim() === "" ? "(it said nothing)" : said
  return `[... ${said.length - most} characters before this are in its session ...]\n${said.slice(-most)}`
}
