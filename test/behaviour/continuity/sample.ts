/** The three sample outputs of seed 001, literally, with the trees that produce them. */
import type { Tree } from "./tree.ts"

export interface Sample {
  readonly tree: Tree
  readonly mode: string
  readonly artifact: string | undefined
  readonly text: string
}

export const GENERIC: Sample = {
  tree: {
    "SESSION.md": `# Session State

[Focus: refactor-auth] 2026-04-01 — Branch \`work/auth\`
- Extracted shared token validation into \`src/auth/validate.ts\`.
- Removed duplicate middleware from \`src/routes/api.ts\`.
- Decision: keep backward-compatible exports from the old location until v3.
- Blockers: none.

Reality Check — unit tests pass.

## Next Operator Brief

- Open Work: migrate remaining callers of the old \`validateSession()\` to the new utility.
- Pending Tests: integration tests for the new token validator.
- Blockers: none.
`,
  },
  mode: "generic",
  artifact: undefined,
  text: `## Stage-Aware Continuation
Preserve the canonical workflow names exactly. Treat this as the authoritative resume brief for compaction continuity.

## Primary Objective
- Migrate remaining callers of the old \`validateSession()\` to the new utility.

## Current Step
- Current open work: migrate remaining callers of the old \`validateSession()\` to the new utility.

## Status
- Active — working on refactor-auth.

## Completed
- Extracted shared token validation into \`src/auth/validate.ts\`.
- Removed duplicate middleware from \`src/routes/api.ts\`.

## Remaining
- migrate remaining callers of the old \`validateSession()\` to the new utility.
- Pending tests: integration tests for the new token validator.

## Decisions
- Decision: keep backward-compatible exports from the old location until v3.

## Active Files
- none recorded

## Blockers / Risks
- none recorded

## Next Action
- migrate remaining callers of the old \`validateSession()\` to the new utility.`,
}

export const SPEC: Sample = {
  tree: {
    "SESSION.md": `# Session State

[Focus: 001-prd-compaction] 2026-04-01 — Branch \`work/compaction\`
- Running \`spec-execute\` for \`.codex/specs/001-prd-compaction\`.

## Next Operator Brief

- Open Work: continue \`/spec-execute next 001-prd-compaction\`.
- Blockers: none.
`,
    ".codex/specs/001-prd-compaction/requirements.md": "# Requirements\n\nKeep state over a compaction.\n",
    ".codex/specs/001-prd-compaction/design.md": "# Design\n\nOne hook.\n",
    ".codex/specs/001-prd-compaction/tasks.md": `# Tasks

## Batch 1 — Foundation
- [x] 1. Parse SESSION.md
- [ ] 2. Build continuation context

## Batch 2 — Validation
- [ ] 3. Add workflow tests
`,
    ".codex/specs/001-prd-compaction/context.md": `# Context

## Decisions Made
- [Batch 0] Decision: prefer inject-only compaction context — Rationale: preserves default OpenCode prompt behavior.
`,
  },
  mode: "workflow:spec/spec-execute",
  artifact: ".codex/specs/001-prd-compaction/tasks.md",
  text: `## Stage-Aware Continuation
Preserve the canonical workflow names exactly. Treat this as the authoritative resume brief for compaction continuity.

## Primary Objective
- Execute the current approved spec batch with minimal drift, validate it, update \`context.md\`, and stop with a resumable hand-off.

## Current Step
- Continue the current implementation lane in Batch 1 — Foundation: 2 — Build continuation context (Batch 1 — Foundation).

## Status
- 001-prd-compaction is in spec-execute; 1 task(s) complete and 2 task(s) remaining.

## Completed
- \`requirements.md\` exists and later-stage artifacts imply the requirements phase is complete.
- \`design.md\` exists and later-stage artifacts imply design approval was completed.
- \`tasks.md\` exists and execution has started.
- 1 — Parse SESSION.md (Batch 1 — Foundation)

## Remaining
- 2 — Build continuation context (Batch 1 — Foundation)
- 3 — Add workflow tests (Batch 2 — Validation)

## Decisions
- [Batch 0] Decision: prefer inject-only compaction context — Rationale: preserves default OpenCode prompt behavior.

## Active Files
- .codex/specs/001-prd-compaction/requirements.md
- .codex/specs/001-prd-compaction/design.md
- .codex/specs/001-prd-compaction/tasks.md
- .codex/specs/001-prd-compaction/context.md

## Blockers / Risks
- none recorded

## Next Action
- Resume 001-prd-compaction in spec-execute: 2 — Build continuation context (Batch 1 — Foundation).

---

## Workflow-Aware Augmentation
The following sections apply because this session is part of a canonical workflow. Preserve these fields for workflow continuity.

## Workflow Type
- spec

## Canonical Workflow Stage
- spec-execute

## Source Artifacts
- .codex/specs/001-prd-compaction/requirements.md
- .codex/specs/001-prd-compaction/design.md
- .codex/specs/001-prd-compaction/tasks.md
- .codex/specs/001-prd-compaction/context.md

## Current Artifact
- .codex/specs/001-prd-compaction/tasks.md

## Artifact Status
- 001-prd-compaction: 1 task(s) complete, 2 remaining; next task is 2 — Build continuation context (Batch 1 — Foundation).

## Transition Gate
- For the current batch: declared task gates pass via \`.codex/scripts/harness.sh spec gate <spec-name> <task-id>\`, batch validation passes, \`/review\` feedback is addressed, \`context.md\` is updated, and the batch stops after commit.

## Approved Decisions
- 001-prd-compaction: approval of \`requirements.md\` is inferred from the presence of later spec artifacts.
- 001-prd-compaction: approval of \`design.md\` is inferred from the presence of later spec artifacts.
- 001-prd-compaction: \`tasks.md\` is treated as approved because execution artifacts are present.

## Pending Decisions / Open Questions
- none recorded

## Dependencies / Preconditions
- \`tasks.md\` is approved.
- \`context.md\` is read before any other work.
- The harness is current; run \`/spec-init <spec-name>\` if \`harness/feature_list.json\` is missing or stale.

## Verification / Done Criteria
- Task-level validation gates pass for each completed task.
- Batch validation passes before stopping.
- \`context.md\` records discoveries, decisions, utilities, and carry-forward warnings.`,
}

export const BUG: Sample = {
  tree: {
    "SESSION.md": `# Session State

[Focus: session-resume-regression] 2026-04-02
- \`bug-fix\` is in progress for \`.codex/bugs/session-resume-regression\`.
- Blockers: none.
`,
    ".codex/bugs/session-resume-regression/report.md": "# Report\n\nThe session does not resume.\n",
    ".codex/bugs/session-resume-regression/analysis.md": `# Analysis

The hook drops its state.

## Decision
- Choose the minimal safe fix in the compaction hook without adding persistent memory.
`,
    ".codex/bugs/session-resume-regression/harness/progress.md":
      "- bug-fix approved; implement fix and add regression coverage\n",
  },
  mode: "workflow:bug/bug-fix",
  artifact: ".codex/bugs/session-resume-regression/analysis.md",
  text: `## Stage-Aware Continuation
Preserve the canonical workflow names exactly. Treat this as the authoritative resume brief for compaction continuity.

## Primary Objective
- Implement the approved minimal safe fix with regression coverage and no unrelated refactoring.

## Current Step
- Apply the approved changes from \`analysis.md\`, run format/lint/typecheck/tests, and prepare the hand-off to \`bug-verify\`.

## Status
- session-resume-regression is in bug-fix; harness progress notes: bug-fix approved; implement fix and add regression coverage

## Completed
- \`report.md\` exists and the bug is documented well enough to move beyond \`bug-create\`.
- \`analysis.md\` exists and later-stage artifacts imply the fix plan was approved.
- bug-fix approved; implement fix and add regression coverage

## Remaining
- Apply the approved changes from \`analysis.md\`, run format/lint/typecheck/tests, and prepare the hand-off to \`bug-verify\`.
- Preserve explicit workflow approval semantics around bug-fix.

## Decisions
- Choose the minimal safe fix in the compaction hook without adding persistent memory.

## Active Files
- .codex/bugs/session-resume-regression/report.md
- .codex/bugs/session-resume-regression/analysis.md
- .codex/bugs/session-resume-regression/harness/progress.md

## Blockers / Risks
- none recorded

## Next Action
- Implement the approved minimal fix for session-resume-regression, add regression coverage, and prepare the hand-off to bug-verify.

---

## Workflow-Aware Augmentation
The following sections apply because this session is part of a canonical workflow. Preserve these fields for workflow continuity.

## Workflow Type
- bug

## Canonical Workflow Stage
- bug-fix

## Source Artifacts
- .codex/bugs/session-resume-regression/report.md
- .codex/bugs/session-resume-regression/analysis.md
- .codex/bugs/session-resume-regression/harness/progress.md

## Current Artifact
- .codex/bugs/session-resume-regression/analysis.md

## Artifact Status
- session-resume-regression: bug-fix approved; implement fix and add regression coverage

## Transition Gate
- Implement the approved fix, add regression tests, run the declared validation gates, then request approval to proceed to \`bug-verify\`.

## Approved Decisions
- session-resume-regression: approval of \`report.md\` is inferred from the presence of later bug artifacts.
- session-resume-regression: approval of \`analysis.md\` is inferred from the presence of later bug artifacts.

## Pending Decisions / Open Questions
- Ask for approval to proceed to \`bug-verify\` when the gates are green.

## Dependencies / Preconditions
- \`analysis.md\` is approved.
- Regression coverage aims at the original failure.

## Verification / Done Criteria
- Format, lint, typecheck, and relevant tests pass.
- Regression coverage demonstrates the original bug path is fixed.
- The change log and gate results are ready for \`bug-verify\`.`,
}
