import type { Behaviour } from "../behaviours.ts"

const OPEN_DESIGN = "the seed lists it as a design still to be made; no issue asks for it yet"

const promise = <const Says extends string>(says: Says) => ({ seed: "004", says }) as const
const owes = <const Says extends string, const Owed extends string>(says: Says, owed: Owed) =>
  ({ seed: "004", says, owed }) as const

/** Seed 004. */
export const ENGINE_BEHAVIOURS = {
  // Admission
  "create.generates-id": promise("create without an id makes one"),
  "create.reuse": promise(
    "create with a used id returns the session that has it, whatever else is asked for",
  ),
  "prompt.generates-id": promise("prompt without an id makes one, and its receipt says which"),
  "prompt.admits-once": promise("a supplied id admits one durable input when absent"),
  "prompt.retry.exact": promise("exact reuse of a message id returns the same admitted receipt"),
  "prompt.retry.wakes": promise("an exact retry schedules another wake unless resume is false"),
  "prompt.conflict": promise(
    "reusing a message id for another session, prompt or delivery fails, and nothing is admitted",
  ),
  "prompt.resume": promise("resume omitted or true schedules execution after admission"),
  "prompt.admit-only": promise(
    "resume false admits only: the input waits for an explicit wake, run or prompt, also after a reopen",
  ),
  "inbox.outside-history": promise(
    "an admitted input is no part of the visible history until it is promoted",
  ),
  "inbox.promotion-atomic": promise("promotion and the visible message are one event"),
  "inbox.limit": promise(
    "the backlog has a limit; one input more is refused with a code and nothing is stored",
  ),
  "inbox.list-cancel": promise("pending inputs can be listed and cancelled; a promoted one cannot"),

  // Delivery
  "steer.joins": promise("a steer is promoted at the next safe boundary inside the current drain"),
  "steer.coalesces": promise("pending steers are promoted together in the order of their admission"),
  "steer.batch": promise("a boundary promotes at most one batch of steers"),
  "queue.fifo": promise(
    "queued inputs open one activity each, first in first out, when the current one settled",
  ),
  "queue.after-steers": promise("a queued input waits until no steer is pending"),

  // Execution
  "run.forced-attempt": promise("run makes at least one provider attempt even when no input is eligible"),
  "run.joins": promise("runs share one attempt that was asked for"),
  "run.behind-wake": promise(
    "run behind a drain that a wake started gets an attempt of its own, and its failure",
  ),
  "wake.needs-input": promise("a wake calls the provider only when it can promote eligible input"),
  "wake.coalesces": promise("repeated wakes coalesce"),
  "wait.idle": promise("wait on an idle session resolves at once and rejects only for a drain it waited for"),
  "wait.leaves": promise("a waiter that leaves does not cancel the work"),
  "execution.serial": promise("one session drains one turn at a time, different sessions drain side by side"),
  "interrupt.settles": promise("interrupt waits until the active drain has cleaned up and settled"),
  "interrupt.boundary": promise(
    "interrupt is a durable boundary: what was demanded before is suppressed, what is demanded later survives",
  ),
  "interrupt.keeps-inbox": promise("interrupt keeps pending inputs for a later fresh wake or run"),
  "interrupt.idle": promise("interrupting an idle or missing session does nothing"),
  "turns.limit": promise("25 provider turns in one activity fail only when work remains"),
  "recovery.pending": promise("pending inputs of a lost process are found and drained at the next open"),
  "recovery.dispatched": promise(
    "work already dispatched when the process was lost is shown as interrupted and waits for run",
  ),
  "park.told": {
    seed: "issue 17",
    says: "a limit with a told reset parks the session: status waiting, until when and for what; no request before, one after; wait goes on waiting",
  },
  "park.survives": {
    seed: "issue 17",
    says: "the timer survives a death and is kept by every process that has the store open, and the work goes on once",
  },
  "park.unknown": {
    seed: "issue 17",
    says: "a limit that tells no reset is tried a few times, then waited out: a minute, doubling to thirty",
  },
  "park.waits-with-the-rest": {
    seed: "issue 17",
    says: "a prompt during the wait is admitted and waits with the rest; only wake and run act before the time",
  },
  "recovery.answered": promise(
    "a call whose question was answered before its process died goes on by itself, once, and its session is not idle meanwhile",
  ),
  "recovery.tools": promise(
    "a tool left running is failed as Tool execution interrupted before the next request, and never repeated",
  ),
  "fence.location": promise("a moved session continues at its destination, with the tools of that place"),
  "fence.stale": promise("a process that lost its session cannot append to it any more"),

  // Turns
  "turn.one-stream": promise("one provider stream per turn, history reloaded once before the next"),
  "tool.recorded-first": promise("a complete call is recorded before it is started"),
  "tool.eager": promise("a call starts at once, while the stream goes on"),
  "tool.awaited": promise("every started call is settled before the next request"),
  "tool.owner": promise("settlement carries the assistant message id, since call ids repeat across turns"),
  "tool.hosted-metadata": promise("hosted calls keep call-side and result-side metadata apart"),
  "tool.malformed": promise("input that is not JSON, or not what the schema says, is settled as an error"),
  "tool.unknown": promise("a call of a tool that is not offered is settled as an error"),
  "tool.second-result": promise("a second result for a call is a recorded failure of the turn"),
  "tool.failure": promise("a failing tool is settled with its words, and the turn goes on"),
  "tool.repetition": promise("repeated identical calls are noticed, and in the end not run"),
  "stream.unfinished": promise(
    "a stream that ends without a finish is a recorded failure that keeps what was seen",
  ),
  "switch.next-turn": promise("a switch of agent or model applies at the next provider turn"),
  "native.round-trip": promise(
    "provider-native payloads, also of hosted tools, go back exactly as they came",
  ),
  "provider.no-time-limit": promise("no universal limit on a provider's silence is imposed"),
  "native.same-model": promise(
    "native reasoning and metadata go back only to the model that made them; for another one reasoning is text",
  ),
  "retry.recorded": promise("a failure before visible output is tried again within a bound, and recorded"),
  "retry.not-after-output": promise("after visible output nothing is silently repeated"),
  "usage.totals": promise("usage and cost are recorded per turn and summed per session"),
  "agent.default": promise("a session without an agent is build, for execution and for permissions alike"),

  // Permissions
  "permission.last-match": promise("rules have wildcards and the last match wins"),
  "permission.ask-default": promise("what no rule matches is asked"),
  "permission.once": promise("once lets this call through and no other"),
  "permission.always": promise("always is saved for the project and answers later questions"),
  "permission.session": promise(
    "session allows every edit of this session, and no other session's; what a narrower rule asks is asked still",
  ),
  "permission.revoke": promise(
    "saved approvals can be listed and revoked; a revoked one is asked again, also after a rebuild",
  ),
  "permission.asks-again": promise(
    "an engine told to ask again believes no answer that lies in its database, saved or parked",
  ),
  "permission.reject-feedback": promise("a rejection with words reaches the model"),
  "permission.durable": promise("an open question survives a restart, and its answer goes on with the call"),
  "permission.agent-rules": promise("rules of the agent stand above saved approvals"),

  // Reading
  "messages.order": promise("messages follow the sequence of the log, whatever their ids and times"),
  "messages.pages": promise("pages have opaque cursors both ways and no next on the last"),
  "events.replay": promise("events are replayed behind a cursor, without gaps and with the sequence from 1"),
  "events.tail": promise(
    "a tail continues behind the replay without a race, and says where the replay ended",
  ),
  "events.second-process": promise("a tail sees commits of another process"),
  "events.durable-only": promise(
    "live fragments never enter the replayable stream; they are there for connected readers",
  ),
  "events.unknown": promise("events of unknown versions are skipped visibly, not fatally"),
  "projections.rebuilt": promise("projections rebuilt from the log come out equal"),

  // Tool registry and built-ins
  "tools.registry.scoped": {
    seed: "004",
    says: "closing a contribution removes its tool from the advertised ones and reveals the one beneath",
  },
  "tools.registry.settles": {
    seed: "004",
    says: "execution decodes input, asks, runs, checks the output, and settles failures as typed errors",
  },
  "tools.read.stays-inside": {
    seed: "004",
    says: "read refuses absolute paths, escapes and links that lead outside, whatever the rules say",
  },
  "tools.read.references": {
    seed: "004",
    says: "read resolves one path relative to the Location or a named project reference",
  },
  "tools.read.canonical-resource": {
    seed: "004",
    says: "read asks for the canonical resource, not for the name the model used",
  },
  "tools.read.pages-text": {
    seed: "004",
    says: "oversized UTF-8 text is paged by bounded line ranges",
  },
  "tools.read.binary": {
    seed: "004",
    says: "binary content comes back as base64",
  },
  "tools.read.directory": {
    seed: "004",
    says: "a directory lists its direct children, directories first, paged by a one-based offset and a next cursor",
  },
  "tools.bash.workdir": {
    seed: "004",
    says: "a working directory outside the project needs external_directory approval",
  },
  "tools.bash.advice": {
    seed: "004",
    says: "absolute arguments outside the project produce warnings only",
  },
  "tools.patch.one-question": {
    seed: "004",
    says: "external directories are approved first, then one edit batch",
  },
  "tools.patch.preflight": {
    seed: "004",
    says: "every update and delete is checked before the first write",
  },
  "tools.patch.partial": {
    seed: "004",
    says: "a failure while committing takes the earlier changes back: one patch is applied as a whole or not at all",
  },

  // Context epochs
  "epoch.initial": promise("the first complete observation makes the baseline before any prompt is visible"),
  "epoch.unavailable-first": promise(
    "without the first context execution stops and the prompt stays pending and retryable",
  ),
  "epoch.reconcile": promise(
    "changed context is one chronological system message, committed with the snapshot",
  ),
  "epoch.unavailable-later": promise("an unavailable observation keeps the admitted value"),
  "epoch.removal": promise("removal is said: the remaining aggregate, or a revocation when nothing remains"),
  "epoch.switch": promise("a switch of agent or model does not replace the baseline"),
  "epoch.compaction": promise("a completed compaction renders a fresh baseline at the next attempt"),
  "epoch.move": promise("a move clears the epoch and the destination makes its own"),
  "epoch.contained": promise(
    "discovery of instructions is canonical, contained in the project and can be disabled",
  ),

  // Compaction
  "compaction.budget": promise(
    "a request beyond the window minus the reserve is compacted before the pending turn",
  ),
  "compaction.checkpoint": promise(
    "the transcript stays; one hidden checkpoint with summary and recent context replaces it for the model",
  ),
  "compaction.no-native": promise("nothing provider-native crosses the checkpoint"),
  "compaction.events": promise("started and ended are durable, deltas live; only the ended one counts"),
  "compaction.rolling": promise("a repeated compaction updates the former summary"),
  "compaction.overflow": promise(
    "an overflow before output is compacted once and tried once more, never in a loop",
  ),
  "compaction.manual": promise("compact is there on demand"),
  "compaction.receipts": promise("each compaction leaves a receipt"),

  // Parity: one id for each row of the seed's table
  "parity.environment": promise("environment facts and the date of the host are a source"),
  "parity.project-instructions": promise(
    "global instructions and those of the project, upward, are a source",
  ),
  "parity.configured-instructions": promise(
    "configured files, globs and addresses are sources of their own, and their removal is said",
  ),
  "parity.nested-instructions": promise(
    "instructions beside a file that was read are told at the next boundary and stay",
  ),
  "parity.skills": promise("skills an agent may use are told by name; the body comes through the tool"),
  "parity.lowering": promise("a request goes to the selected model with the history in its order"),
  "parity.agent": promise("the selected agent's prompt and permissions shape the request"),
  "parity.tools": promise("tools that the policy denies are not offered"),
  "parity.compaction": promise("pressure compacts, and the baseline is made anew from the checkpoint"),
  "parity.attachments": promise("attachments of a prompt are durable and typed"),
  "parity.mentions": promise("templates and @ mentions are expanded before admission"),
  "parity.materialization": owes(
    "files, directories and MCP resources that a prompt names become content",
    OPEN_DESIGN,
  ),
  "parity.agent-references": promise("a prompt that names an agent becomes guidance for a task"),
  "parity.configured-references": promise("configured references are told, and read by their name"),
  "parity.synthetic-replay": promise("a message that no person wrote is replayed as a message of its own"),

  // HTTP
  "http.replay": promise("remote consumers replay a session's events by cursor, then follow them"),
  "http.no-init": promise("there is no dedicated init route"),

  // Forks
  "fork.next-request": promise("a fork sends the request its source would have sent"),
  "fork.settled-only": promise(
    "a fork copies settled history only: no open turn, call or question, nothing that waits",
  ),
  "fork.retry": promise("a fork with a used id returns that fork; another session under the id is refused"),

  // Imports
  "import.prompted": promise(
    "prompts that were visible elsewhere become ordinary Prompted events, without an admission",
  ),
  "import.again": promise("the same source gives the same session; a changed one is refused by name"),
} as const satisfies Record<string, Behaviour>
