/** Many runs at once in one repository, and many claims. */
import { expect } from "vitest"

import { openRepositoryScene } from "../scene/repository.ts"
import { verifies } from "../verifies.ts"

const LINES = Array.from({ length: 40 }, (_, index) => `line ${index}`)

verifies("hands.parallel", async () => {
  const scene = openRepositoryScene({ "shared.txt": `${LINES.join("\n")}\n`, "count.txt": "0\n" })
  const before = scene.checkout()
  // Each run changes one line of a file and adds a file. From the sixth on, it is the line of a neighbour.
  const does =
    'n=$(basename "$PWD" | sed "s/.*-r//"); at=$((n > 5 ? n - 4 : n)); sed -i "s/^line $((at * 5))\\$/run $n/" shared.txt; echo "$n" > "own-$n.txt"'
  scene.harness("claude", { answer: "done", does })
  const first = await scene.call("run.spawn", {
    prompt: "do it",
    harness: "claude",
    permission: "workspace-write",
    worktree: true,
    check: "grep -q run shared.txt",
  })
  expect(first.document).toMatchObject({ run_id: "r1", verdict: "verified" })
  const others = await Promise.all(
    Array.from({ length: 7 }, () =>
      scene.call("run.spawn", {
        prompt: "do it",
        harness: "claude",
        permission: "workspace-write",
        worktree: true,
        check: "grep -q run shared.txt",
        space: "s1",
      }),
    ),
  )
  expect(others.map(({ document }) => document["verdict"])).toEqual(
    Array.from({ length: 7 }, () => "verified"),
  )
  expect(scene.checkout()).toBe(before)
  const all = await scene.call("run.apply", { all: true, space: "s1" })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the operation's own shape
  const { applied, left } = all.document as {
    readonly applied: readonly { readonly run_id: string; readonly checks: number }[]
    readonly left: readonly { readonly run_id: string; readonly code: string; readonly message: string }[]
  }
  // Three pairs want the same line, and one of each pair is applied.
  expect(applied).toHaveLength(5)
  expect(left).toHaveLength(3)
  expect(applied.every(({ checks }) => checks === 1)).toBe(true)
  for (const { code, message } of left) {
    expect(code).toBe("APPLY_CONFLICT")
    expect(message).toMatch(/^Run r\d conflicts with run r\d in shared\.txt; nothing was changed\.$/)
  }
  for (const { run_id: run } of applied) {
    const number = run.slice(1)
    expect(scene.read(`own-${number}.txt`)).toBe(`${number}\n`)
    expect(scene.read("shared.txt")).toContain(`run ${number}\n`)
  }
  expect(scene.git("status", "--porcelain")).toBe("")
})

verifies("hands.claims", async () => {
  const scene = openRepositoryScene()
  // Every second one did nothing, whatever it claims.
  const does = 'n=$(basename "$PWD" | sed "s/.*-r//"); [ $((n % 2)) = 0 ] && echo right > a.txt; true'
  scene.harness("claude", { answer: "All tests pass, it is done.", does })
  const claim = (values: object = {}) =>
    scene.call("run.spawn", {
      prompt: "do it",
      harness: "claude",
      permission: "workspace-write",
      worktree: true,
      check: "grep -q right a.txt",
      check_rounds: 0,
      ...values,
    })
  const verdicts = new Map<string, unknown>()
  const note = ({ document }: Awaited<ReturnType<typeof claim>>): void =>
    void verdicts.set(String(document["run_id"]), document["verdict"])
  note(await claim())
  while (verdicts.size < 40) {
    const some = Math.min(4, 40 - verdicts.size)
    for (const one of await Promise.all(Array.from({ length: some }, () => claim({ space: "s1" })))) note(one)
  }
  const isFalse = (run: string): boolean => Number(run.slice(1)) % 2 === 1
  const told = [...verdicts]
  expect(told.filter(([run, verdict]) => isFalse(run) && verdict === "verified")).toEqual([])
  expect(told.filter(([run, verdict]) => isFalse(run) && verdict === "refuted")).toHaveLength(20)
  expect(told.filter(([run, verdict]) => !isFalse(run) && verdict === "verified")).toHaveLength(20)
})
