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
} as const satisfies Record<string, Behaviour>
