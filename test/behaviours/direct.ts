import type { Behaviour } from "../behaviours.ts"

/** The engine as a harness: a conversation on a terminal, and runs without one. */
export const DIRECT_BEHAVIOURS = {
  "direct.conversation": {
    seed: "issue 5",
    says: "a conversation on a terminal: streamed text, tool calls with their state, questions answered by a key, a line with tokens and cost",
  },
  "direct.interrupt": {
    seed: "issue 5",
    says: "Ctrl-C interrupts the turn and a second one leaves, with exit code 0",
  },
  "direct.continue": {
    seed: "issue 5",
    says: "a continued conversation shows its history, and the terminal is left as it was found",
  },
  "direct.commands": {
    seed: "issue 5",
    says: "/compact, /model, /agent and /help work; an unknown command sends nothing",
  },
  "direct.permission-keys": {
    seed: "issue 5",
    says: "y allows once, a always (an edit: its file), s all edits of the session, n rejects, f rejects with words that reach the model",
  },
  "direct.steer": {
    seed: "issue 5",
    says: "what is typed while the agent works joins the work; /queue waits until it is done",
  },
  "direct.plain-output": {
    seed: "issue 5",
    says: "no control character of a model or a tool reaches the terminal",
  },
  "direct.with-server": {
    seed: "issue 5",
    says: "a server on the same state shows the session, its questions can be answered and prompts sent from there",
  },
  "direct.run": {
    seed: "issue 5",
    says: "a run without a terminal has the records, report, files and usage that other harnesses have",
  },
  "direct.continue-and-fork": {
    seed: "issue 5",
    says: "a run can be continued in its session and forked into another with the history so far",
  },
  "direct.shared-database": {
    seed: "issue 5",
    says: "many runs share one database, and none works on the prompts of another",
  },
  "direct.daily-use": {
    seed: "issue 12",
    says: "Tab completes commands and files, images go along by path, all edits can be accepted, the working line has a clock, /new and /sessions change the conversation",
  },
  "direct.images": {
    seed: "issue 12",
    says: "an image goes along by its path, however a terminal writes it, or from the clipboard; what cannot be sent is told",
  },
  "direct.undo": {
    seed: "issue 12",
    says: "/undo takes back what the newest prompt led to, conversation and files or each alone, and the prompt stands there to be said better; /redo brings it back; files that others changed are asked about",
  },
  "direct.take-up": {
    seed: "issue 12",
    says: "start --continue takes up a session of the engine that no chat has held, and lets a person choose among several chats",
  },
} as const satisfies Record<string, Behaviour>
