/** The events of an engine session as pieces of a conversation, like those of every other harness. A fold, no I/O. */
import type { SpokenPiece } from "@meridian/continuity"
import type { Prompt, StoredEvent } from "@meridian/protocol"

export const openEnginePieces = (): ((event: StoredEvent) => readonly SpokenPiece[]) => {
  const admitted = new Map<string, Prompt>()
  const about = new Map<string, { readonly model: string; readonly agent: string }>()
  return (event) => {
    const { time } = event
    const ofTurn = (turn: string) => ({ turn, key: turn, time, ...about.get(turn) })
    switch (event.type) {
      case "session.next.prompt.admitted.1":
        admitted.set(event.data.messageID, event.data.prompt)
        return []
      case "session.next.prompt.promoted.1": {
        const key = event.data.messageID
        const prompt = admitted.get(key)
        admitted.delete(key)
        return prompt === undefined ? [] : [{ kind: "prompt", key, prompt, time }]
      }
      case "session.next.prompted.1":
        return [{ kind: "prompt", key: event.data.messageID, prompt: event.data.prompt, time }]
      case "session.next.synthetic.1":
        return [
          {
            kind: "prompt",
            key: event.data.messageID,
            prompt: { text: `(added by a program) ${event.data.text}` },
            time,
          },
        ]
      case "session.next.step.started.1": {
        const { assistantMessageID, model, agent } = event.data
        about.set(assistantMessageID, { model, agent })
        return []
      }
      case "session.next.text.ended.1":
        return [{ kind: "text", ...ofTurn(event.data.assistantMessageID), text: event.data.text }]
      case "session.next.reasoning.ended.1":
        return [{ kind: "reasoning", ...ofTurn(event.data.assistantMessageID), text: event.data.text }]
      case "session.next.tool.called.1": {
        const { assistantMessageID, callID, tool, input, raw } = event.data
        return [
          {
            kind: "call",
            ...ofTurn(assistantMessageID),
            callID: `${assistantMessageID}/${callID}`,
            tool,
            ...(input === undefined ? {} : { input }),
            ...(raw === undefined ? {} : { raw }),
          },
        ]
      }
      case "session.next.tool.success.1": {
        const { assistantMessageID, callID, content } = event.data
        return [{ kind: "result", callID: `${assistantMessageID}/${callID}`, content, time }]
      }
      case "session.next.tool.failed.1": {
        const { assistantMessageID, callID, error } = event.data
        const content = [{ type: "text" as const, text: error.message }]
        return [{ kind: "result", callID: `${assistantMessageID}/${callID}`, content, failed: true, time }]
      }
      case "session.next.output.given.1": {
        const { assistantMessageID, value } = event.data
        const turn = ofTurn(assistantMessageID)
        return [{ kind: "text", ...turn, text: JSON.stringify(value, null, 2) }]
      }
      case "session.next.todo.updated.1":
        return [{ kind: "todo", items: event.data.items, time }]
      case "session.next.step.ended.2": {
        const { assistantMessageID, usage, cost } = event.data
        about.delete(assistantMessageID)
        return [{ kind: "usage", turn: assistantMessageID, usage, cost }]
      }
      case "session.next.step.failed.2":
        return [
          { kind: "failed", ...ofTurn(event.data.assistantMessageID), message: event.data.error.message },
        ]
      case "session.next.compaction.ended.2": {
        const { summary, tokens, usage, cost, reason } = event.data
        return [{ kind: "summary", text: summary, tokens, usage, cost, manual: reason === "manual", time }]
      }
      // Events without words: bookkeeping, and what the model is told beside the conversation.
      case "session.next.created.1":
      case "session.next.agent.switched.1":
      case "session.next.model.switched.1":
      case "session.next.moved.1":
      case "session.next.renamed.1":
      case "session.next.titled.1":
      case "session.next.files.kept.1":
      case "session.next.undo.started.1":
      case "session.next.files.missed.1":
      case "session.next.undo.ended.1":
      case "session.next.archived.1":
      case "session.next.prompt.cancelled.1":
      case "session.next.interrupt.requested.1":
      case "session.next.retried.1":
      case "session.next.parked.1":
      case "session.next.tool.resumed.1":
      case "session.next.output.refused.1":
      case "session.next.repetition.noticed.1":
      case "session.next.tooling.failed.1":
      case "session.next.budget.changed.1":
      case "session.next.unparked.1":
      case "session.next.task.started.1":
      case "session.next.task.ended.1":
      case "session.next.warned.1":
      case "session.next.tool.adjusted.1":
      case "session.next.permission.asked.1":
      case "session.next.permission.replied.1":
      case "session.next.activity.resumed.1":
      case "session.next.question.asked.1":
      case "session.next.question.replied.1":
      case "session.next.epoch.started.1":
      case "session.next.context.updated.1":
      case "session.next.instruction.discovered.1":
      case "session.next.tool.pruned.1":
      case "session.next.permission.revoked.1":
      case "session.next.compaction.requested.1":
      case "session.next.compaction.started.1":
      case "session.next.compaction.failed.1":
      case "session.next.compaction.restored.1":
      case "session.next.execution.failed.1":
        return []
    }
  }
}
