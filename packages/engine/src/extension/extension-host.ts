/**
 * The extensions of one engine. They may come and go while it runs. Their tools and context apply to every open place from
 * its next boundary on; a turn that has begun keeps its hooks.
 */
import { Failure } from "@meridian/protocol"
import { Context, Layer } from "effect"

import type { EmbedderSource } from "../context/embedder-source.ts"
import { LIMITS } from "../domain/limits.ts"
import type { ActiveHooks } from "../port/hooks.ts"
import type { ToolOutput } from "../port/tool.ts"
import type { EmbedderTool } from "../tool/embedder-tool.ts"
import { activeHooks } from "./active-hooks.ts"
import type { Registered } from "./call-hook.ts"
import type { Extension } from "./extension.ts"
import { openFrozenMessages } from "./frozen-messages.ts"

/** A place that extensions contribute to. */
export interface ExtendedPlace {
  readonly directory: string
  readonly contributeTools: (tools: readonly EmbedderTool[]) => { readonly close: () => void }
  readonly contributeContext: (sources: readonly EmbedderSource[]) => { readonly close: () => void }
  readonly isToolOutput: (value: unknown) => value is ToolOutput
  readonly bound: (output: ToolOutput) => Promise<ToolOutput>
}

export interface JoinedPlace {
  /** The same object until an extension is added or removed, or a hook is left out. */
  readonly hooks: () => ActiveHooks | undefined
  readonly leave: () => void
}

export class ExtensionHost extends Context.Service<
  ExtensionHost,
  {
    /** Throws INVALID_INPUT for a name in use. Removing twice does nothing. */
    readonly add: (extension: Extension) => { readonly remove: () => void }
    readonly list: () => readonly Extension[]
    readonly join: (place: ExtendedPlace) => JoinedPlace
  }
>()("meridian/ExtensionHost") {
  static readonly layer: Layer.Layer<ExtensionHost> = Layer.sync(ExtensionHost, openHost)
}

interface Member extends ExtendedPlace {
  readonly closing: Map<Registered, readonly { readonly close: () => void }[]>
}

function openHost(): ExtensionHost["Service"] {
  const extensions: Registered[] = []
  const members = new Set<Member>()
  let changes = 0

  const contribute = (member: Member, registered: Registered): void => {
    const { extension } = registered
    if (!isAt(extension, member.directory)) return
    member.closing.set(registered, [
      member.contributeTools(extension.tools ?? []),
      member.contributeContext(extension.context ?? []),
    ])
  }

  const withdraw = (member: Member, registered: Registered): void => {
    for (const { close } of member.closing.get(registered) ?? []) close()
    member.closing.delete(registered)
  }

  const remove = (registered: Registered): void => {
    const at = extensions.indexOf(registered)
    if (at === -1) return
    extensions.splice(at, 1)
    changes += 1
    for (const member of members) withdraw(member, registered)
  }

  return {
    list: () => extensions.map(({ extension }) => extension),
    add: (extension) => {
      if (extensions.some((one) => one.extension.name === extension.name))
        throw new Failure("INVALID_INPUT", { what: `There is an extension ${extension.name} already` })
      if (extensions.length >= LIMITS.extensions)
        throw new Failure("INVALID_INPUT", { what: `An engine has ${LIMITS.extensions} extensions at most` })
      const registered: Registered = { extension, failures: new Map() }
      extensions.push(registered)
      changes += 1
      for (const member of members) contribute(member, registered)
      return { remove: () => remove(registered) }
    },
    join: (place) => {
      const member: Member = { ...place, closing: new Map() }
      const frozen = openFrozenMessages()
      members.add(member)
      for (const registered of extensions) contribute(member, registered)
      let made: { readonly at: number; readonly hooks: ActiveHooks | undefined } | undefined
      return {
        hooks: () => {
          if (made?.at === changes) return made.hooks
          const here = extensions.filter(({ extension }) => isAt(extension, place.directory))
          const hooks = activeHooks({ ...place, extensions: here, frozen })
          made = { at: changes, hooks }
          return hooks
        },
        leave: () => {
          members.delete(member)
          for (const registered of member.closing.keys()) withdraw(member, registered)
        },
      }
    },
  }
}

const isAt = ({ directory }: Extension, place: string): boolean =>
  directory === undefined || `${place}/`.startsWith(`${directory}/`)
