/** What each stage is about. The lines of `spec-execute` and `bug-fix` are literal contracts (seed 001). */
import type { ArtifactName, Stage } from "./stage.ts"

export interface StageDetails {
  readonly objective: string
  readonly step: string
  readonly gate: string
  readonly preconditions: readonly string[]
  readonly done: readonly string[]
  readonly artifact: ArtifactName
}

export const STAGE_DETAILS = {
  "spec-create": {
    objective: "Complete `requirements.md` with clear acceptance criteria and validation coverage.",
    step: "Finish `requirements.md` and ask for approval to enter `spec-design`.",
    gate: "`requirements.md` must be explicitly approved before `spec-design` begins.",
    preconditions: [
      "Steering documents are loaded before requirements are written.",
      "The folder name under `.codex/specs/` is assigned or confirmed.",
    ],
    done: [
      "Requirements are complete, unambiguous and in line with steering.",
      "The validation plan and the measures of success are set.",
      "The user's approval is on record.",
    ],
    artifact: "requirements.md",
  },
  "spec-design": {
    objective: "Produce an implementable `design.md` in line with the requirements and steering.",
    step: "Complete `design.md` with reuse analysis and test strategy, and ask for approval to enter `spec-tasks`.",
    gate: "`design.md` must be explicitly approved before `spec-tasks` begins.",
    preconditions: ["`requirements.md` is approved.", "The reuse analysis reflects the present repository."],
    done: [
      "Architecture, interfaces, data, errors and tests are written down.",
      "Trade-offs are explicit and the choice is justified.",
      "The user's approval is on record.",
    ],
    artifact: "design.md",
  },
  "spec-tasks": {
    objective: "Turn the approved design into small, traceable tasks with strong validation gates.",
    step: "Finish `tasks.md` with validation commands for every task, and ask for approval to enter `spec-execute`.",
    gate: "`tasks.md` must be explicitly approved before `spec-execute` begins.",
    preconditions: ["`design.md` is approved.", "Tasks map to requirements and reuse targets."],
    done: [
      "Each task has requirement references, reuse targets and concrete commands.",
      "Each batch has a meaningful gate.",
      "The user's approval is on record.",
    ],
    artifact: "tasks.md",
  },
  "spec-execute": {
    objective:
      "Execute the current approved spec batch with minimal drift, validate it, update `context.md`, and stop with a resumable hand-off.",
    step: "Continue with the next open batch or task of `tasks.md`, with `context.md` as the brief.",
    gate: "For the current batch: declared task gates pass via `.codex/scripts/harness.sh spec gate <spec-name> <task-id>`, batch validation passes, `/review` feedback is addressed, `context.md` is updated, and the batch stops after commit.",
    preconditions: [
      "`tasks.md` is approved.",
      "`context.md` is read before any other work.",
      "The harness is current; run `/spec-init <spec-name>` if `harness/feature_list.json` is missing or stale.",
    ],
    done: [
      "Task-level validation gates pass for each completed task.",
      "Batch validation passes before stopping.",
      "`context.md` records discoveries, decisions, utilities, and carry-forward warnings.",
    ],
    artifact: "tasks.md",
  },
  "bug-create": {
    objective: "Complete a reproducible bug report and start the bug harness.",
    step: "Finish `report.md`, start the harness, and ask for approval to enter `bug-analyze`.",
    gate: "`report.md` must be explicitly approved before `bug-analyze` begins.",
    preconditions: [
      "`.codex/bugs/<bug-name>/` exists with the report and the harness placeholders.",
      "Reproduction and environment are known in enough detail.",
    ],
    done: [
      "The report states expected and actual behaviour, steps, environment, impact and a first analysis.",
      "The harness is started, or known to be unconfigured.",
      "The user's approval is on record.",
    ],
    artifact: "report.md",
  },
  "bug-analyze": {
    objective: "Find the root cause, the smallest safe fix and the plan to verify it.",
    step: "Complete `analysis.md` with alternatives and prevention, and ask for approval to enter `bug-fix`.",
    gate: "`analysis.md` must be explicitly approved before `bug-fix` begins.",
    preconditions: ["`report.md` is complete.", "The affected files and symbols are known."],
    done: [
      "The analysis names cause, factors, scope, plan, risks and tests.",
      "The fix is minimal and the alternatives are written down.",
      "The user's approval is on record.",
    ],
    artifact: "analysis.md",
  },
  "bug-fix": {
    objective:
      "Implement the approved minimal safe fix with regression coverage and no unrelated refactoring.",
    step: "Apply the approved changes from `analysis.md`, run format/lint/typecheck/tests, and prepare the hand-off to `bug-verify`.",
    gate: "Implement the approved fix, add regression tests, run the declared validation gates, then request approval to proceed to `bug-verify`.",
    preconditions: ["`analysis.md` is approved.", "Regression coverage aims at the original failure."],
    done: [
      "Format, lint, typecheck, and relevant tests pass.",
      "Regression coverage demonstrates the original bug path is fixed.",
      "The change log and gate results are ready for `bug-verify`.",
    ],
    artifact: "analysis.md",
  },
  "bug-verify": {
    objective: "Verify the fix end to end, record the evidence and prepare closure.",
    step: "Rerun the reproduction, edge cases and regressions, write `verification.md`, and record the audit and archive state.",
    gate: "Reproduction, regression checks, project gates and the scoped audit gate all pass before closure.",
    preconditions: ["`report.md` and `analysis.md` are at hand.", "The fix is in."],
    done: [
      "The reproduction failed before the fix and passes now.",
      "Regression and edge tests are recorded in `verification.md`.",
      "Project and audit gates pass.",
    ],
    artifact: "verification.md",
  },
} as const satisfies Record<Stage, StageDetails>
