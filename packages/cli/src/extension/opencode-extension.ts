/**
 * A plugin written for OpenCode (V1) as an extension of the engine, as far as its hooks have a counterpart. In
 * OpenCode a hook changes the value it gets. Here it gets a copy, and the changed copy is the answer.
 */
import type { EmbedderScene, EmbedderTool, Extension, ExtensionHooks } from "@meridian/engine"
import { isJsonObject } from "@meridian/protocol"

import { argumentSchema } from "./argument-schema.ts"

export interface OpenCodeExtension {
  readonly extension: Extension
  /** Hooks of the plugin that are never called here. */
  readonly unasked: readonly string[]
}

interface Place {
  readonly directory: string
  readonly worktree: string
}

type Hook = (input: object, output: Record<string, unknown>) => unknown
type Hooks = Readonly<Record<string, unknown>>

/** Every function a module exports is a plugin, and their results are joined. Throws if there is none. */
export const openCodeExtension = async (
  name: string,
  exports: Hooks,
  place: Place,
): Promise<OpenCodeExtension> => {
  const plugins = [...new Set(Object.values(exports))].filter((value) => typeof value === "function")
  if (plugins.length === 0) throw new Error("it exports no plugin")
  const made: Hooks[] = []
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what an exported function of such a module is
  for (const plugin of plugins) made.push({ ...Object(await (plugin as Hook)(surroundings(place), {})) })
  const tools = made.flatMap((hooks) => toolsOf(hooks["tool"], place))
  const used = new Set([...Object.keys(COUNTERPARTS), "tool"])
  const unasked = made.flatMap((hooks) => Object.keys(hooks)).filter((hook) => !used.has(hook))
  return {
    extension: { name: `opencode/${name.replaceAll(/[^\w.-]/g, "_")}`, tools, hooks: hooksOf(made) },
    unasked: [...new Set(unasked)],
  }
}

/** OpenCode's client and shell do not exist here. */
const surroundings = ({ directory, worktree }: Place): object => {
  const absent = (what: string) =>
    new Proxy(() => undefined, {
      get: () => absent(what),
      apply: () => {
        throw new Error(`${what} of OpenCode is not there in Meridian`)
      },
    })
  return {
    directory,
    worktree,
    project: { id: worktree, worktree },
    client: absent("the client"),
    $: absent("the shell"),
  }
}

/** Each hook with a counterpart, and which one that is. */
const COUNTERPARTS: Readonly<Record<string, keyof ExtensionHooks>> = {
  "experimental.chat.system.transform": "beforeRequest",
  "experimental.chat.messages.transform": "beforeRequest",
  "chat.params": "beforeRequest",
  "chat.headers": "beforeRequest",
  "tool.execute.before": "beforeTool",
  "tool.execute.after": "afterTool",
}

type Request = Parameters<NonNullable<ExtensionHooks["beforeRequest"]>>[0]
type Message = Request["messages"][number]

const hooksOf = (made: readonly Hooks[]): ExtensionHooks => {
  const having = (name: string): readonly Hook[] =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a function under the name of a hook
    made.flatMap((hooks) => (typeof hooks[name] === "function" ? [hooks[name] as Hook] : []))
  const has = (hook: keyof ExtensionHooks): boolean =>
    Object.entries(COUNTERPARTS).some(([name, own]) => own === hook && having(name).length > 0)

  const beforeRequest = async (request: Request): Promise<Request> => {
    const about = aboutOf(request)
    const ask = async <Output extends Record<string, unknown>>(name: string, output: Output) => {
      for (const hook of having(name)) await hook(about, output)
      return output
    }
    const { system } = await ask("experimental.chat.system.transform", { system: [...request.system] })
    const shown = request.messages.map((message, at) => shownMessage(message, at, request.sessionID))
    const { messages } = await ask("experimental.chat.messages.transform", { messages: shown })
    const { temperature, topP, maxOutputTokens, options } = request.settings
    const before = { temperature, topP, topK: undefined, maxOutputTokens, options: { ...options } }
    const params = await ask("chat.params", { ...before, options: { ...before.options } })
    const { headers } = await ask("chat.headers", { headers: { ...request.headers } })
    return {
      ...request,
      system,
      messages:
        having("experimental.chat.messages.transform").length === 0
          ? request.messages
          : request.messages.map((message, at) => withTexts(message, messages[at])),
      settings: having("chat.params").length === 0 ? request.settings : settingsOf(request.settings, params),
      headers,
    }
  }

  return {
    ...(has("beforeRequest") ? { beforeRequest } : {}),
    ...(has("beforeTool")
      ? {
          beforeTool: async (call) => {
            const output = { args: structuredClone(call.input) }
            try {
              for (const hook of having("tool.execute.before"))
                await hook({ tool: call.tool, sessionID: call.sessionID, callID: call.callID }, output)
            } catch (error) {
              // In OpenCode, a plugin refuses a call by throwing.
              return { refuse: error instanceof Error ? error.message : String(error) }
            }
            return { ...call, input: output.args }
          },
        }
      : {}),
    ...(has("afterTool")
      ? {
          afterTool: async ({ tool, sessionID, callID, input, output }) => {
            if (output === undefined) return undefined
            const texts = output.content.flatMap((part) => (part.type === "text" ? [part.text] : []))
            const changed = { title: tool, output: texts.join("\n"), metadata: {} }
            for (const hook of having("tool.execute.after"))
              await hook({ tool, sessionID, callID, args: input }, changed)
            if (changed.output === texts.join("\n")) return undefined
            const media = output.content.filter((part) => part.type !== "text")
            return { output: { ...output, content: [{ type: "text", text: changed.output }, ...media] } }
          },
        }
      : {}),
  }
}

const aboutOf = ({ sessionID, agent, model }: Request): object => {
  const slash = model.indexOf("/")
  const [providerID, modelID] = [model.slice(0, slash), model.slice(slash + 1)]
  return { sessionID, agent, model: { id: modelID, providerID, modelID }, provider: { id: providerID } }
}

const settingsOf = (
  before: Request["settings"],
  params: Readonly<Record<string, unknown>>,
): Request["settings"] => {
  const { temperature, topP, maxOutputTokens, options } = params
  const given = { temperature, topP, maxOutputTokens, options: isEmpty(options) ? undefined : options }
  const said = Object.entries(given).filter(([, value]) => value !== undefined)
  // The engine validates every one of them.
  return { ...before, ...Object.fromEntries(said) }
}

const isEmpty = (value: unknown): boolean => isJsonObject(value) && Object.keys(value).length === 0

interface ShownPart {
  readonly type: string
  readonly id: string
  readonly text: string
}

interface ShownMessage {
  readonly info: { readonly id: string; readonly role: string; readonly sessionID: string }
  readonly parts: readonly ShownPart[]
}

/** A message's words, which a plugin may change. Calls and results are not shown. */
const shownMessage = ({ role, content }: Message, at: number, sessionID: string): ShownMessage => ({
  info: { id: `message_${at}`, role, sessionID },
  parts:
    typeof content === "string"
      ? [{ type: "text", id: "part_0", text: content }]
      : content.flatMap((part, index) =>
          part.type === "text" ? [{ type: "text", id: `part_${index}`, text: part.text }] : [],
        ),
})

const withTexts = (message: Message, shown: ShownMessage | undefined): Message => {
  const texts = new Map((shown?.parts ?? []).map(({ id, text }) => [id, text]))
  const textOf = (index: number, before: string): string => texts.get(`part_${index}`) ?? before
  if (message.role === "system") {
    const text = textOf(0, message.content)
    return text === message.content ? message : { ...message, content: text }
  }
  if (message.role === "tool") return message
  if (message.content.every((part, at) => part.type !== "text" || textOf(at, part.text) === part.text))
    return message
  const content = message.content.map((part, at) =>
    part.type === "text" ? { ...part, text: textOf(at, part.text) } : part,
  )
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same parts, with other words
  return { ...message, content } as Message
}

const toolsOf = (tools: unknown, place: Place): readonly EmbedderTool[] =>
  Object.entries(Object(tools)).flatMap(([name, definition]): readonly EmbedderTool[] => {
    if (typeof definition !== "object" || definition === null) return []
    const execute: unknown = Reflect.get(definition, "execute")
    const description: unknown = Reflect.get(definition, "description")
    if (typeof execute !== "function") return []
    return [
      {
        name,
        description: typeof description === "string" && description !== "" ? description : name,
        input: argumentSchema(Reflect.get(definition, "args")),
        execute: async (input: object, scene: EmbedderScene) => {
          const { sessionID, messageID, callID, agent, signal } = scene
          const context = { sessionID, messageID, callID, agent, abort: signal, ...place }
          const answer: unknown = await Reflect.apply(execute, definition, [
            input,
            { ...context, metadata: () => undefined, ask: () => Promise.resolve() },
          ])
          const output: unknown = Reflect.get(Object(answer), "output")
          return typeof answer === "string" ? answer : typeof output === "string" ? output : answer
        },
      },
    ]
  })
