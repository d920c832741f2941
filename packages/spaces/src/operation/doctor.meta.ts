import { defineMeta } from "./operation.ts"
import { BOOLEAN, INTEGER, listOf, objectOf, oneOf, STRING } from "./schema.ts"

export const REPAIRS = ["stale_session_locks", "orphan_runs", "stale_space_status"] as const
export const FINDINGS = [...REPAIRS, "missing_or_corrupt_space_json", "damaged_log"] as const

export const DOCTOR = defineMeta({
  name: "doctor",
  audience: "agent",
  summary: "Run diagnostics checks.",
  tool: "doctor",
  fields: {},
  output: objectOf({
    ok: BOOLEAN,
    repo_root: STRING,
    state_root: STRING,
    spaces_checked: INTEGER,
    runs_checked: INTEGER,
    repaired: listOf(oneOf(...REPAIRS)),
    warnings: listOf(STRING),
    findings: listOf(objectOf({ id: oneOf(...FINDINGS), space_id: STRING, what: STRING, repaired: BOOLEAN })),
  }),
  details:
    "Stops chats whose lock is free and removes their lock files, ends runs whose worker is gone, corrects a space whose status contradicts its locks; reports a space.json that is missing or corrupt and damaged lines of a log, and leaves them. Exit code 1 when something is left.",
})
