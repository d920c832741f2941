import type { Behaviour } from "../behaviours.ts"

export const CONTINUITY_BEHAVIOURS = {
  "brief.sample.generic": {
    seed: "001",
    says: "the brief of a session without a workflow is the sample of the document",
  },
  "brief.sample.spec": {
    seed: "001",
    says: "the brief of a spec in execution is the sample of the document, with the two sections it leaves out",
  },
  "brief.sample.bug": {
    seed: "001",
    says: "the brief of a bug being fixed is the sample of the document, with the two sections it leaves out",
  },
  "brief.headings": {
    seed: "001",
    says: "nine generic headings come first and in order; ten more follow only for a workflow, after a rule",
  },
  "brief.empty": {
    seed: "001",
    says: "an empty or missing SESSION.md still gives a whole brief, with 'none recorded' in its lists",
  },
  "session.fields": {
    seed: "001",
    says: "focus, open work, completed, decisions, pending tests, blockers and next action are read from SESSION.md",
  },
  "session.blockers": {
    seed: "001",
    says: "a blocker puts the session at risk; 'Blockers: none.' is not a blocker",
  },
  "session.newest": {
    seed: "001",
    says: "the newest entry decides, not the last mention",
  },
  "workflow.names": {
    seed: "001",
    says: "the eight canonical stage names appear exactly",
  },
  "workflow.infer.spec": {
    seed: "001",
    says: "without a hint the stage of a spec follows from its artifacts, never ahead of them",
  },
  "workflow.infer.bug": {
    seed: "001",
    says: "without a hint the stage of a bug follows from its artifacts: an analysis alone is not a fix",
  },
  "workflow.hint": {
    seed: "001",
    says: "the stage the newest entry names goes before artifacts; a vocabulary or a part of a word does not",
  },
  "workflow.between": {
    seed: "issue 16",
    says: "a log that speaks of two workflows pins no stage and says which were seen",
  },
  "workflow.moved": {
    seed: "issue 16",
    says: "when tools have touched another spec's artifacts since the log was written, both are named and no next action",
  },
  "workflow.uncounted": {
    seed: "issue 16",
    says: "of a list of tasks that was not read whole nothing is counted, and it is never all done",
  },
  "workflow.generic": {
    seed: "001",
    says: "no workflow, a leftover empty folder or a finished one leaves a session generic, without augmentation",
  },
  "workflow.folder": {
    seed: "001",
    says: "the folder the session names is taken, then the one further along, then the one edited last",
  },
  "workflow.tasks": {
    seed: "001",
    says: "tasks and batches are read in every checkbox form, nested and numbered",
  },
  "workflow.carry-over": {
    seed: "001",
    says: "discoveries, decisions, the last batch and features are carried over from the notes of a spec",
  },
  "brief.no-forgery": {
    seed: "001",
    says: "no text of a project forges a heading of the brief or ends it early",
  },
  "rules.block": {
    seed: "003",
    says: "active rules stand in one block, each under its path relative to its rules folder",
  },
  "rules.every-request": { seed: "003", says: "rules are in every main request, also after a compaction" },
  "rules.not-in-titles": { seed: "003", says: "requests for a title carry no rules" },
  "rules.mid-turn": {
    seed: "003",
    says: "a rule that starts to match is there at the next request of the same turn",
  },
  "rules.no-restart": { seed: "003", says: "new, changed and removed rule files count without a restart" },
  "rules.folders": { seed: "003", says: "rules are found in global and project folders, nearer ones last" },
  "rules.malformed": {
    seed: "003",
    says: "malformed front matter makes a rule inactive, never unconditional",
  },
  "rules.conditions": { seed: "003", says: "a rule applies when its conditions hold" },
  "working-set.block": {
    seed: "003",
    says: "the paths in context are pushed at a compaction as the documented block",
  },
  "working-set.limit": { seed: "003", says: "at most 20 paths are shown, the most recent ones, sorted" },
  "working-set.history": {
    seed: "003",
    says: "the working set is rebuilt from the history on first sight of a session",
  },
  "silent.once": {
    seed: "003",
    says: "rules are sent silently once per session and again after a compaction",
  },
  "silent.idle": { seed: "003", says: "a silent message waits until nobody is being answered" },
  "logs.literal": { seed: "003", says: "the documented log lines are printed in debug mode" },
  "plugin.brief": {
    seed: "001",
    says: "at a compaction the brief is pushed as one string and the prompt is left alone",
  },
  "plugin.pin": {
    seed: "001",
    says: "after a compaction the pinned part is in every main request, with stable text",
  },
  "engine.ledger": {
    seed: "issue 16",
    says: "after a compaction our engine is told what every host is: the pinned part of the same ledger",
  },
  "engine.rule-folders": {
    seed: "issue 16",
    says: "rules of every harness's folder are in force in our engine",
  },
  "hook.ledger": {
    seed: "issue 16",
    says: "a hook pins what its host's transcript says: task, changes, constraints and the rest of the ledger",
  },
  "injected.receipt": {
    seed: "issue 16",
    says: "'brief --injected' shows what a compaction kept, what was put back, what was lost and what was invented",
  },
  "hook.nothing": {
    seed: "issue 16",
    says: "nothing known means nothing injected",
  },
  "hook.never-fails": {
    seed: "issue 16",
    says: "a hook never fails its host's turn, whatever the transcript is",
  },
  "check.opencode": {
    seed: "issue 16",
    says: "init --check and doctor say whether the plugin is there, current, injecting, and what works beside it",
  },
  "recall.every-harness": {
    seed: "issue 16",
    says: "what was said in any harness of a project is found, with harness, time and place",
  },
  "recall.tools": {
    seed: "issue 16",
    says: "meridian serve offers recall and expand as tools that only look",
  },
  "launch.reinjected": {
    seed: "000",
    says: "agent body and skills of the newest matching launch record are carried over a compaction",
  },
  "launch.no-op": {
    seed: "000",
    says: "without variables, file or match nothing is added, and a torn last line is ignored",
  },
} as const satisfies Record<string, Behaviour>
