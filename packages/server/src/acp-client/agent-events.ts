/**
 * An agent's updates as events of a run. Text arrives in pieces and is reported whole; a call is reported once when it
 * starts and once when it ends. Everything an agent says is foreign text: it is bounded here, and made plain where it is
 * shown.
 */
import type { SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk"
import { asObject, type Json } from "@meridian/protocol"
import type { DirectEvent } from "@meridian/spaces"

import { CLIENT_LIMITS } from "./limits.ts"

export interface AgentEvents {
  readonly take: (update: SessionUpdate) => readonly DirectEvent[]
  /** Reports the remaining text. Calls that never ended are reported as failed. */
  readonly finish: () => readonly DirectEvent[]
  /** The cost of the session so far in dollars, if the agent reports it. */
  readonly costUsd: () => number | undefined
}

interface OpenCall {
  readonly tool: string
  readonly content: readonly ToolCallContent[]
  readonly output: unknown
}

export const openAgentEvents = (): AgentEvents => {
  const calls = new Map<string, OpenCall>()
  let spoken: { readonly type: "text" | "reasoning"; text: string } | undefined
  let cost: number | undefined

  const flush = (): readonly DirectEvent[] => {
    const said = spoken
    spoken = undefined
    return said === undefined || said.text.trim() === "" ? [] : [{ type: said.type, text: said.text }]
  }

  const say = (type: "text" | "reasoning", text: string): readonly DirectEvent[] => {
    const before = spoken?.type === type ? [] : flush()
    spoken ??= { type, text: "" }
    spoken.text = `${spoken.text}${text}`.slice(0, CLIENT_LIMITS.textCharacters)
    return before
  }

  const end = (id: string, call: OpenCall, status: "completed" | "failed"): readonly DirectEvent[] => {
    calls.delete(id)
    const output = outputOf(call)
    return [
      { type: "tool.ended", call: id, tool: call.tool, status, output },
      ...(status === "failed" ? [] : filesOf(call.content)),
    ]
  }

  const takeCall = (
    update: Extract<SessionUpdate, { sessionUpdate: "tool_call" | "tool_call_update" }>,
  ): readonly DirectEvent[] => {
    const id = update.toolCallId.slice(0, CLIENT_LIMITS.nameCharacters)
    const known = calls.get(id)
    if (known === undefined && calls.size >= CLIENT_LIMITS.openCalls) return []
    const tool = (update.name ?? update.title ?? known?.tool ?? update.kind ?? "tool").slice(
      0,
      CLIENT_LIMITS.nameCharacters,
    )
    const call: OpenCall = {
      tool: known?.tool ?? tool,
      content: update.content ?? known?.content ?? [],
      output: update.rawOutput ?? known?.output,
    }
    calls.set(id, call)
    const started: readonly DirectEvent[] =
      known === undefined
        ? [...flush(), { type: "tool.started", call: id, tool: call.tool, input: inputOf(update.rawInput) }]
        : []
    const { status } = update
    return status === "completed" || status === "failed" ? [...started, ...end(id, call, status)] : started
  }

  return {
    take: (update) => {
      switch (update.sessionUpdate) {
        case "agent_message_chunk":
          return update.content.type === "text" ? say("text", update.content.text) : []
        case "agent_thought_chunk":
          return update.content.type === "text" ? say("reasoning", update.content.text) : []
        case "tool_call":
        case "tool_call_update":
          return takeCall(update)
        case "usage_update":
          if (update.cost?.currency === "USD" && Number.isFinite(update.cost.amount))
            cost = update.cost.amount
          return []
        case "compaction_update":
          return update.status === "completed"
            ? [...flush(), { type: "compaction", phase: "ended" }]
            : update.status === "failed"
              ? [...flush(), { type: "compaction", phase: "failed" }]
              : [...flush(), { type: "compaction", phase: "started" }]
        case "notice":
          return [{ type: "warning", message: update.title.slice(0, CLIENT_LIMITS.nameCharacters) }]
        // The prompt, the agent's plan and its offers are not part of a run's report.
        case "user_message_chunk":
        case "plan":
        case "available_commands_update":
        case "current_mode_update":
        case "config_option_update":
        case "session_info_update":
        case "compaction_summary_chunk":
          break
      }
      // Includes kinds of newer agents, which are unknown here.
      return []
    },
    finish: () => [...flush(), ...[...calls].flatMap(([id, call]) => end(id, call, "failed"))],
    costUsd: () => cost,
  }
}

const inputOf = (input: unknown): Json => {
  const object = asObject(input)
  return object === undefined || JSON.stringify(object).length > CLIENT_LIMITS.textCharacters ? {} : object
}

const outputOf = ({ content, output }: OpenCall): string => {
  const texts = content.flatMap((part) =>
    part.type === "content" && part.content.type === "text" ? [part.content.text] : [],
  )
  const text = texts.length > 0 ? texts.join("\n") : typeof output === "string" ? output : ""
  return text.slice(0, CLIENT_LIMITS.textCharacters)
}

const filesOf = (content: readonly ToolCallContent[]): readonly DirectEvent[] =>
  content
    .flatMap((part): readonly DirectEvent[] =>
      part.type === "diff" ? [{ type: "file", path: part.path, change: "written" }] : [],
    )
    .slice(0, CLIENT_LIMITS.files)
