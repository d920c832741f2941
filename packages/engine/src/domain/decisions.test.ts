/** The small decisions of a session, each tested at its edges. */
import { matchesWildcard, type Receipt } from "@meridian/protocol"
import { describe, expect, test } from "vitest"

import { decideAdmission, type AdmissionRequest, type InboxFacts } from "./admission.ts"
import { LIMITS } from "./limits.ts"
import { decideNext } from "./next-step.ts"
import { decidePermission, isDeniedEverywhere, type PermissionRule } from "./permission.ts"
import { choosePromotions } from "./promotion.ts"
import { decideRetry } from "./retry.ts"

describe("admission", () => {
  const request: AdmissionRequest = {
    id: "msg_1",
    sessionID: "ses_1",
    prompt: { text: "hello", files: [{ mediaType: "image/png", base64: "AAAA", name: "a.png" }] },
    delivery: "steer",
    overrides: { system: "Be brief.", tools: { bash: false, read: true } },
  }
  const { overrides: wanted, ...input } = request
  const earlier: Receipt = { ...input, ...wanted, resume: true, admittedSeq: 2, time: 0 }
  const facts: InboxFacts = { earlier: undefined, usedByMessage: false, pending: 0, limit: 2 }

  test("a new id is admitted while there is room", () => {
    expect(decideAdmission(request, { ...facts, pending: 1 })).toEqual({ kind: "admit" })
    expect(decideAdmission(request, { ...facts, pending: 2 })).toEqual({ kind: "full", limit: 2 })
  })

  test("an exact repeat gets the first receipt, even without room", () => {
    expect(decideAdmission(request, { ...facts, earlier, pending: 2 })).toEqual({
      kind: "replay",
      receipt: earlier,
    })
  })

  test("anything else under a used id is a conflict that names the field", () => {
    const file = { mediaType: "image/png", base64: "AAAA" }
    const changes: readonly [Partial<AdmissionRequest>, string][] = [
      [{ sessionID: "ses_2" }, "session"],
      [{ prompt: { text: "other" } }, "prompt"],
      [{ prompt: { text: "hello" } }, "prompt"],
      [{ prompt: { text: "hello", files: [file] } }, "prompt"],
      [{ delivery: "queue" }, "delivery"],
      [{ overrides: {} }, "system"],
      [{ overrides: { ...wanted, tools: { bash: false } } }, "tools"],
      [{ overrides: { ...wanted, settings: { topP: 0 } } }, "settings"],
      [{ overrides: { ...wanted, format: { type: "json", schema: {} } } }, "format"],
    ]
    for (const [change, field] of changes)
      expect(decideAdmission({ ...request, ...change }, { ...facts, earlier })).toEqual({
        kind: "conflict",
        field,
      })
    const turned = { ...wanted, tools: { read: true, bash: false } }
    expect(decideAdmission({ ...request, overrides: turned }, { ...facts, earlier })).toEqual({
      kind: "replay",
      receipt: earlier,
    })
    expect(decideAdmission(request, { ...facts, usedByMessage: true })).toEqual({
      kind: "conflict",
      field: "message",
    })
  })
})

describe("promotion", () => {
  const pending = [
    { id: "q1", delivery: "queue", admittedSeq: 2 },
    { id: "s2", delivery: "steer", admittedSeq: 5 },
    { id: "s1", delivery: "steer", admittedSeq: 3 },
    { id: "q2", delivery: "queue", admittedSeq: 4 },
  ] as const
  const chosen = (inputs: Parameters<typeof choosePromotions>[0], at: "continuing" | "settled", batch = 9) =>
    choosePromotions(inputs, at, batch).map(({ id }) => id)

  test("steers come first, in the order of admission, at most one batch", () => {
    expect(chosen(pending, "continuing")).toEqual(["s1", "s2"])
    expect(chosen(pending, "settled")).toEqual(["s1", "s2"])
    expect(chosen(pending, "settled", 1)).toEqual(["s1"])
  })

  test("one queued input opens the next activity, and only when the last has settled", () => {
    const queued = pending.filter(({ delivery }) => delivery === "queue")
    expect(chosen(queued, "continuing")).toEqual([])
    expect(chosen(queued, "settled")).toEqual(["q1"])
    expect(chosen([], "settled")).toEqual([])
  })
})

describe("the next step", () => {
  const standing = { resultsToShow: false, pendingSteers: 0, pendingQueued: 0, turns: 3, turnLimit: 3 }

  test("continues while there are results or steers, opens the queue, and then rests", () => {
    expect(decideNext({ ...standing, turns: 2, resultsToShow: true })).toEqual({ kind: "turn" })
    expect(decideNext({ ...standing, pendingSteers: 1 })).toEqual({ kind: "turn" })
    expect(decideNext({ ...standing, pendingQueued: 1 })).toEqual({ kind: "open-next" })
    expect(decideNext(standing)).toEqual({ kind: "idle" })
  })

  test("fails at the limit only when work remains that no new input brings", () => {
    expect(decideNext({ ...standing, resultsToShow: true })).toEqual({ kind: "fail", limit: 3 })
    expect(decideNext({ ...standing, resultsToShow: true, pendingQueued: 1 })).toEqual({
      kind: "fail",
      limit: 3,
    })
    expect(decideNext({ ...standing, resultsToShow: true, pendingSteers: 1 })).toEqual({ kind: "turn" })
  })
})

describe("retry", () => {
  const HOUR = 3_600_000
  const policy = { attempts: 3, baseMs: 100, isPatient: false, patienceMs: 24 * HOUR }
  const patient = { ...policy, isPatient: true }
  const now = 1_000_000
  const failed = {
    attempt: 1,
    retryable: true,
    isLimit: true,
    visibleOutput: false,
    now,
    chance: 0.5,
  }

  test("waits longer each time, spread by chance, never sooner than asked and never beyond the bound", () => {
    const delay = (change: object) => decideRetry(policy, { ...failed, ...change })
    expect(delay({})).toEqual({ kind: "retry", delayMs: 100 })
    expect(delay({ attempt: 2 })).toEqual({ kind: "retry", delayMs: 200 })
    expect(delay({ chance: 0 })).toEqual({ kind: "retry", delayMs: 75 })
    expect(delay({ retryAfterMs: 900 })).toEqual({ kind: "retry", delayMs: 900 })
    const late = { ...policy, attempts: 40 }
    expect(decideRetry(late, { ...failed, attempt: 39 })).toEqual({
      kind: "retry",
      delayMs: LIMITS.retryDelayMs,
    })
  })

  test("gives up when it may not, cannot or need not try again", () => {
    const changes = [{ retryable: false }, { visibleOutput: true }, { attempt: 3 }]
    for (const change of changes)
      expect(decideRetry(policy, { ...failed, ...change })).toEqual({ kind: "give-up" })
  })

  test("a stated reset of a second or more parks, whatever the number of attempts", () => {
    const told = (retryAfterMs: number) => decideRetry(policy, { ...failed, retryAfterMs })
    expect(told(999)).toEqual({ kind: "retry", delayMs: 999 })
    expect(told(1_000)).toEqual({ kind: "park", until: now + 1_000, since: now, count: 1 })
    expect(told(LIMITS.parkMostMs)).toMatchObject({ kind: "park", until: now + LIMITS.parkMostMs })
    for (const beyond of [LIMITS.parkMostMs + 1, 400 * 365 * 24 * HOUR])
      expect(told(beyond)).toEqual({ kind: "ask", until: now + beyond })
    const parked = { since: 7, count: 4 }
    expect(decideRetry(policy, { ...failed, retryAfterMs: 5_000, parked })).toEqual({
      kind: "park",
      until: now + 5_000,
      since: 7,
      count: 5,
    })
  })

  test("an unknown reset parks for a minute, doubling to thirty; an overload for less; within the patience", () => {
    const after = (count: number, isLimit: boolean) => {
      const parked = count === 0 ? {} : { parked: { since: now, count } }
      const decision = decideRetry(patient, { ...failed, attempt: 3, isLimit, ...parked })
      return decision.kind === "park" ? (decision.until - now) / 1_000 : decision.kind
    }
    expect([0, 1, 2, 3, 4, 5, 50].map((count) => after(count, true))).toEqual([
      60, 120, 240, 480, 960, 1_800, 1_800,
    ])
    expect([0, 1, 2, 3, 4].map((count) => after(count, false))).toEqual([8, 16, 32, 60, 60])
    const parked = { since: now - 24 * HOUR, count: 60 }
    expect(decideRetry(patient, { ...failed, attempt: 3, parked })).toEqual({ kind: "give-up" })
  })

  test("without patience nothing is parked: a long wait is reported to people", () => {
    const hasty = { ...policy, patienceMs: 1 }
    const told = (retryAfterMs: number) => decideRetry(hasty, { ...failed, retryAfterMs })
    expect(told(LIMITS.retryDelayMs)).toEqual({ kind: "retry", delayMs: LIMITS.retryDelayMs })
    expect(told(LIMITS.retryDelayMs + 1)).toEqual({ kind: "give-up" })
    expect(decideRetry({ ...hasty, isPatient: true }, { ...failed, attempt: 3 })).toEqual({ kind: "give-up" })
  })
})

describe("permission", () => {
  const rules: readonly PermissionRule[] = [
    { action: "*", resource: "*", effect: "ask" },
    { action: "bash", resource: "git *", effect: "allow" },
    { action: "bash", resource: "git push *", effect: "deny" },
  ]
  const decide = (
    resources: readonly string[],
    approvals: readonly { action: string; resource: string }[] = [],
  ) => decidePermission({ action: "bash", resources }, rules, approvals).kind

  test("the last match wins, and every resource must be allowed", () => {
    expect(decide(["git status"])).toBe("allow")
    expect(decide(["git push origin"])).toBe("deny")
    expect(decide(["ls"])).toBe("ask")
    expect(decide(["git status", "ls"])).toBe("ask")
    expect(decide(["ls", "git push"])).toBe("deny")
    expect(decidePermission({ action: "x", resources: ["y"] }, [], []).kind).toBe("ask")
  })

  test("a saved approval answers a question and never lifts a denial", () => {
    const everything = [{ action: "*", resource: "*" }]
    expect(decide(["ls"], everything)).toBe("allow")
    expect(decide(["git push"], everything)).toBe("deny")
    expect(decide(["ls"], [{ action: "bash", resource: "l?" }])).toBe("allow")
    expect(decide(["ls -l"], [{ action: "bash", resource: "ls" }])).toBe("ask")
  })

  test("a tool is hidden only when none of its uses can be allowed", () => {
    const deny = { action: "edit", resource: "*", effect: "deny" } as const
    expect(isDeniedEverywhere([deny], "edit")).toBe(true)
    expect(isDeniedEverywhere([{ ...deny, resource: "src/*" }], "edit")).toBe(false)
    expect(isDeniedEverywhere([deny, { action: "edit", resource: "a", effect: "allow" }], "edit")).toBe(false)
    expect(isDeniedEverywhere([deny], "read")).toBe(false)
  })

  test("wildcards match runs and single characters, and a trailing star after a space also nothing", () => {
    const cases: readonly [string, string, boolean][] = [
      ["*", "", true],
      ["a*c", "abc", true],
      ["a*c", "ac", true],
      ["a*c", "abd", false],
      ["a?c", "ac", false],
      ["git status *", "git status", true],
      ["git status *", "git statusx", false],
      ["*.env", ".env", true],
      ["a**b", "ab", true],
      ["", "x", false],
    ]
    for (const [pattern, text, matches] of cases)
      expect([pattern, text, matchesWildcard(pattern, text)]).toEqual([pattern, text, matches])
  })

  test("a hostile pattern takes no longer than its length times the text's", () => {
    expect(matchesWildcard(`${"a*".repeat(2_000)}b`, "a".repeat(20_000))).toBe(false)
  })
})
