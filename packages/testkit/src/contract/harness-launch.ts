/** Planning: what is requested reaches the harness, in ways that work for any length. */
import { harnessSessionId } from "@meridian/protocol"
import { type Harness, HARNESSES, type LaunchRequest, PERMISSION_TIERS } from "@meridian/spaces"
import { expect, test } from "vitest"

export const launchContract = (harness: Harness): void => {
  const SESSION = { kind: "new", chosen: "0f0e0d0c-1111-4222-8333-444455556666" } as const
  const ID = harnessSessionId("11111111-2222-4333-8444-555555555555")
  const base: LaunchRequest = {
    mode: "headless",
    cwd: "/home/dev/project",
    environment: {},
    session: SESSION,
    prompt: "Say hello, then stop.",
    scratch: "/home/dev/project/.scratch",
  }
  const everywhere = (request: LaunchRequest): string => {
    const plan = harness.launch(request)
    return JSON.stringify([plan.args, plan.stdin, plan.files.map((file) => file.content)])
  }

  test("a headless prompt goes by stdin, word for word, and never by argument", () => {
    const plan = harness.launch(base)
    expect(plan.stdin).toEqual({ kind: "text", text: base.prompt })
    expect(plan.args.join(" ")).not.toContain(base.prompt)
    expect(plan.cwd).toBe(base.cwd)
    expect(plan.environment["PWD"]).toBe(base.cwd)
    expect(plan.warnings).toEqual([])
  })

  test("the binary can be replaced", () => {
    expect(harness.launch(base).command).toBe(harness.binary)
    expect(harness.launch({ ...base, binary: "/opt/agent" }).command).toBe("/opt/agent")
  })

  test("the registry tells the same name and binary without loading the adapter", () => {
    // `direct` is not in this table; the command adds it.
    const entry = HARNESSES.find(({ id }) => id === harness.id) ?? harness
    expect([entry.name, entry.binary]).toEqual([harness.name, harness.binary])
  })

  test.each(["headless", "interactive"] as const)(
    "%s: a continued session is named and known at once",
    (mode) => {
      const plan = harness.launch({ ...base, mode, session: { kind: "continue", id: ID } })
      expect(plan.args).toContain(ID)
      expect(plan.harnessSessionId).toBe(ID)
    },
  )

  test.each(["headless", "interactive"] as const)(
    "%s: a fork names its source and is another session",
    (mode) => {
      const plan = harness.launch({
        ...base,
        mode,
        session: { kind: "fork", id: ID, chosen: SESSION.chosen },
      })
      expect(plan.args).toContain(ID)
      expect(plan.harnessSessionId).toBe(harness.capabilities.chooseSession ? SESSION.chosen : undefined)
    },
  )

  test("a new session is known before the launch exactly where it can be chosen", () => {
    expect(harness.launch(base).harnessSessionId).toBe(
      harness.capabilities.chooseSession ? SESSION.chosen : undefined,
    )
  })

  test("every tier is its own launch, and saying nothing means read-only", () => {
    const plans = PERMISSION_TIERS.map((permission) => {
      const { args, environment } = harness.launch({ ...base, permission })
      return JSON.stringify({ args, environment })
    })
    expect(new Set(plans).size).toBe(PERMISSION_TIERS.length)
    const { args, environment } = harness.launch(base)
    expect(JSON.stringify({ args, environment })).toBe(plans[0])
  })

  test.each(["headless", "interactive"] as const)(
    "%s: long texts arrive whole and no argument is too long",
    (mode) => {
      const prompt = `PROMPT ${"p".repeat(300_000)}`
      const instructions = `RULES ${"r".repeat(300_000)}`
      const agent = { name: "coder", description: "codes", body: `BODY ${"b".repeat(300_000)}` }
      const request = { ...base, mode, prompt, instructions, agent }
      const plan = harness.launch(request)
      for (const text of [prompt, instructions, agent.body]) expect(everywhere(request)).toContain(text)
      const words = [...plan.args, ...Object.values(plan.environment)]
      expect(Math.max(...words.map((word) => word?.length ?? 0))).toBeLessThan(128 * 1024)
    },
  )

  test.each(["headless", "interactive"] as const)(
    "%s: a changed instruction reaches a continued session",
    (mode) => {
      const session = { kind: "continue", id: ID } as const
      const request = { ...base, mode, session, instructions: "RULE: be brief" }
      expect(everywhere({ ...request, instructionsChanged: true })).toContain("RULE: be brief")
    },
  )

  test("a flag of another harness is left out with its value and warned about", () => {
    const foreign = harness.id === "claude" ? ["--title", "VALUE"] : ["--append-system-prompt", "VALUE"]
    const plan = harness.launch({ ...base, params: [...foreign, "--unheard-of", "word"] })
    expect(plan.warnings).toEqual([
      { code: "UNSUPPORTED_FLAG", facts: { flag: foreign[0], harness: harness.name } },
    ])
    expect(plan.args).not.toContain("VALUE")
    expect(plan.args).toEqual(expect.arrayContaining(["--unheard-of", "word"]))
  })

  test("an interactive launch has the terminal", () => {
    const { prompt: _, ...silent } = base
    expect(harness.launch({ ...silent, mode: "interactive" }).stdin).toEqual({ kind: "inherit" })
  })

  test("searching a missing session finds nothing and does not throw", async () => {
    const environment = { HOME: "/nonexistent", CODEX_HOME: "/nonexistent", XDG_DATA_HOME: "/nonexistent" }
    const search = { cwd: "/nonexistent", environment, startedAtMs: 0 }
    expect(await harness.findSession(search)).toBeUndefined()
    expect(await harness.findSession({ ...search, ask: () => Promise.resolve("not json") })).toBeUndefined()
    expect(await harness.usageBefore({ id: ID, environment })).toBeUndefined()
  })
}
