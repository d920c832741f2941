/**
 * Rules as silent messages (seed 003): one per session, and again after a compaction. Off by default, because to OpenCode
 * it is a user message: it carries the session's agent and model (or the default agent would take over), is marked
 * synthetic (or it would count as a prompt and spoil the title), and is sent only while no answer is under way.
 */
import type { Host } from "./host.ts"
import type { Log } from "./log.ts"
import type { RulesLayer } from "./rules-layer.ts"
import type { Session } from "./session.ts"
import { startHookTime, type World } from "./world.ts"

export interface SilentMessages {
  readonly created: (session: Session) => Promise<void>
  readonly compacted: (session: Session) => Promise<void>
  readonly idle: (session: Session) => Promise<void>
}

export const openSilentMessages = (host: Host, rules: RulesLayer, log: Log, world: World): SilentMessages => {
  const deliver = async (session: Session): Promise<void> => {
    const reason = session.owed
    if (reason === undefined || session.busy) return
    // Cleared before the first await, so that two events cannot send twice.
    session.owed = undefined
    if ((await host.isBusy(session.id)) === true) {
      session.owed ??= reason
      return
    }
    const { text, told } = await rules.forMessage(session, startHookTime(world))
    if (text === "") return
    const sent = await host.sendSilently(session.id, {
      noReply: true,
      ...(session.agent === undefined ? {} : { agent: session.agent }),
      ...(session.model === undefined ? {} : { model: session.model }),
      parts: [{ type: "text", text, synthetic: true }],
    })
    if (!sent) {
      log.write("error", `meridian: rules could not be sent to session ${session.id}`, {
        session: session.id,
      })
      return
    }
    session.toldRules = told
    log.trace(
      reason === "created"
        ? `Sent rules to session ${session.id}`
        : `Session ${session.id} compacted - rules re-sent`,
      { session: session.id },
    )
  }

  return {
    created: async (session) => {
      if (session.told) return
      session.told = true
      session.owed = "created"
      await deliver(session)
    },
    compacted: async (session) => {
      session.told = true
      // The message with the rules is now part of the summary.
      session.toldRules = new Set()
      session.owed = "compacted"
      await deliver(session)
    },
    idle: deliver,
  }
}
