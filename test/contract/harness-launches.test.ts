/** The command lines, word for word. Each was run with the real program (`npm run test:live`). */
import { harnessSessionId } from "@meridian/protocol"
import { directEntry, findHarness, type LaunchPlan, type LaunchRequest } from "@meridian/spaces"
import { expect, test } from "vitest"

const CHOSEN = "0f0e0d0c-1111-4222-8333-444455556666"
const ID = harnessSessionId("11111111-2222-4333-8444-555555555555")

const plan = async (id: string, request: Partial<LaunchRequest> = {}): Promise<LaunchPlan> => {
  const harness = await findHarness(id)?.load()
  if (harness === undefined) throw new Error(id)
  return harness.launch({
    mode: "headless",
    cwd: "/project",
    environment: {},
    session: { kind: "new", chosen: CHOSEN },
    prompt: "Work.",
    permission: "workspace-write",
    scratch: "/scratch",
    ...request,
  })
}

const argsOf = async (id: string, request: Partial<LaunchRequest> = {}): Promise<readonly string[]> =>
  (await plan(id, request)).args

const CLAUDE_WRITE = [
  "--permission-mode",
  "acceptEdits",
  "--allowedTools=Read,Glob,Grep,Bash(git status),Bash(git log),Bash(git diff),Edit,Write,NotebookEdit,Bash(git add:*),Bash(git commit:*)",
]
const CLAUDE_HEADLESS = ["-p", "--output-format", "stream-json", "--verbose"]

test("claude, headless", async () => {
  expect(await argsOf("claude", { model: "opus", effort: "high" })).toEqual([
    ...CLAUDE_HEADLESS,
    "--model",
    "opus",
    "--effort",
    "high",
    ...CLAUDE_WRITE,
    "--session-id",
    CHOSEN,
  ])
  expect((await argsOf("claude", { session: { kind: "continue", id: ID } })).slice(-2)).toEqual([
    "--resume",
    ID,
  ])
  expect((await argsOf("claude", { session: { kind: "fork", id: ID, chosen: CHOSEN } })).slice(-5)).toEqual([
    "--resume",
    ID,
    "--fork-session",
    "--session-id",
    CHOSEN,
  ])
})

test("a launch brings along what keeps facts over a compaction, and leaves what a person gave alone", async () => {
  const continuity = { settings: '{"hooks":{}}', plugin: "file:///opt/meridian.js" }
  const claude = await argsOf("claude", { continuity })
  expect(claude.slice(-4)).toEqual(["--settings", '{"hooks":{}}', "--session-id", CHOSEN])
  for (const params of [["--settings", "mine.json"], ["--settings=mine.json"]])
    expect((await argsOf("claude", { continuity, params })).join(" ")).not.toContain("hooks")
  const given = JSON.stringify({ plugin: ["their-plugin"], theme: "dark" })
  const { environment } = await plan("opencode", {
    continuity,
    environment: { OPENCODE_CONFIG_CONTENT: given },
  })
  expect(environment["OPENCODE_CONFIG_CONTENT"]).toBe(
    '{"plugin":["their-plugin","file:///opt/meridian.js"],"theme":"dark"}',
  )
  // Codex runs only hooks that the user has trusted.
  expect(await plan("codex", { continuity })).toEqual(await plan("codex"))
})

test("claude with an agent, instructions, a server and words of its own", async () => {
  const launched = await plan("claude", {
    agent: { name: "coder", description: "", body: "You code.", tools: ["Read"] },
    instructions: "Be brief.",
    mcpServers: [{ name: "meridian", command: "meridian", args: ["serve"] }],
    params: ["--append-system-prompt", "Be kind.", "--session-id", ID, "--add-dir", "/other"],
  })
  expect(launched.args).toEqual([
    ...CLAUDE_HEADLESS,
    "--agents",
    '{"coder":{"description":"coder","prompt":"You code.","tools":["Read"]}}',
    "--agent",
    "coder",
    "--append-system-prompt",
    "Be brief.\n\nBe kind.",
    ...CLAUDE_WRITE.slice(0, 2),
    `${CLAUDE_WRITE[2]},mcp__meridian`,
    '--mcp-config={"mcpServers":{"meridian":{"command":"meridian","args":["serve"],"env":{}}}}',
    "--add-dir",
    "/other",
    "--session-id",
    ID,
  ])
  expect(launched.harnessSessionId).toBe(ID)
  expect(launched.environment).toEqual({
    PWD: "/project",
    CLAUDECODE: undefined,
    CLAUDE_CODE_ENTRYPOINT: undefined,
  })
})

test("claude keeps off the session when the person steers it by hand", async () => {
  const launched = await plan("claude", { mode: "interactive", params: ["--resume"] })
  expect(launched.args).not.toContain("--session-id")
  expect(launched.harnessSessionId).toBeUndefined()
})

test("claude, tiers", async () => {
  expect((await argsOf("claude", { permission: "read-only" })).slice(4, -2)).toEqual([
    "--permission-mode",
    "default",
    "--allowedTools=Read,Glob,Grep,Bash(git status),Bash(git log),Bash(git diff)",
    "--disallowedTools=Edit,Write,NotebookEdit",
  ])
  expect((await argsOf("claude", { permission: "full-access" }))[6]).toMatch(/,Bash,WebFetch,WebSearch$/)
  expect((await argsOf("claude", { permission: "danger" })).slice(4, -2)).toEqual([
    "--dangerously-skip-permissions",
  ])
  expect((await argsOf("claude", { allowedTools: ["Read", "Bash(npm test)"] }))[6]).toBe(
    "--allowedTools=Read,Bash(npm test)",
  )
})

test("claude: a tool that the agent lists is not refused by the tier it did not ask for", async () => {
  expect(
    (await argsOf("claude", { permission: "read-only", allowedTools: ["Read", "Edit"] })).slice(4, -2),
  ).toEqual([
    "--permission-mode",
    "default",
    "--allowedTools=Read,Edit",
    "--disallowedTools=Write,NotebookEdit",
  ])
})

test("claude: a continued session that gets one standing text anew gets all of it", async () => {
  const session = { kind: "continue", id: ID } as const
  const asked = ["--append-system-prompt", "Be kind."]
  expect(await argsOf("claude", { session, instructions: "Be brief." })).not.toContain(
    "--append-system-prompt",
  )
  const args = await argsOf("claude", { session, instructions: "Be brief.", params: asked })
  expect(args.slice(4, 8)).toEqual([
    "--append-system-prompt",
    "Be brief.\n\nBe kind.",
    "--system-prompt-snapshot",
    "off",
  ])
})

test("claude, interactive: nothing is said that was not asked for", async () => {
  const request = { mode: "interactive", cwd: "/project", environment: {}, scratch: "/scratch" } as const
  const claude = await findHarness("claude")?.load()
  expect(claude?.launch({ ...request, session: { kind: "new", chosen: CHOSEN } }).args).toEqual([
    "--session-id",
    CHOSEN,
  ])
})

test("codex, headless: every flag stands before resume and fork", async () => {
  const flags = [
    "exec",
    "--json",
    "--skip-git-repo-check",
    "-C",
    "/project",
    "-s",
    "workspace-write",
    "-m",
    "gpt-5",
  ]
  const request = { model: "gpt-5", params: ["--oss"] }
  expect(await argsOf("codex", request)).toEqual([...flags, "--oss", "-"])
  expect(await argsOf("codex", { ...request, session: { kind: "continue", id: ID } })).toEqual([
    ...flags,
    "--oss",
    "resume",
    ID,
    "-",
  ])
  expect(await argsOf("codex", { ...request, session: { kind: "fork", id: ID } })).toEqual([
    ...flags,
    "--oss",
    "fork",
    ID,
    "-",
  ])
})

test.each([
  ["read-only", ["-s", "read-only"]],
  ["workspace-write", ["-s", "workspace-write"]],
  ["full-access", ["-s", "danger-full-access"]],
  ["danger", ["--dangerously-bypass-approvals-and-sandbox"]],
] as const)("codex, %s", async (permission, expected) => {
  expect((await argsOf("codex", { permission })).slice(5, -1)).toEqual(expected)
})

test("codex, interactive with instructions, and a server", async () => {
  const args = await argsOf("codex", {
    mode: "interactive",
    instructions: 'Say "hi".',
    mcpServers: [{ name: "meridian", command: "meridian", args: ["serve"], environment: { A: "b" } }],
  })
  expect(args).toEqual([
    "-C",
    "/project",
    "-s",
    "workspace-write",
    "-c",
    'developer_instructions="Say \\"hi\\"."',
    "-c",
    'mcp_servers.meridian.command="meridian"',
    "-c",
    'mcp_servers.meridian.args=["serve"]',
    "-c",
    'mcp_servers.meridian.env.A="b"',
    "-c",
    'mcp_servers.meridian.default_tools_approval_mode="approve"',
    "--",
    "Work.",
  ])
})

test("opencode, headless", async () => {
  const start = ["run", "--format", "json", "--dir", "/project", "--model", "a/b"]
  expect(await argsOf("opencode", { model: "a/b", effort: "high" })).toEqual([...start, "--variant", "high"])
  expect(await argsOf("opencode", { model: "a/b", session: { kind: "continue", id: ID } })).toEqual([
    ...start,
    "--session",
    ID,
  ])
  expect(
    await argsOf("opencode", { model: "a/b", session: { kind: "fork", id: ID }, permission: "danger" }),
  ).toEqual([...start, "--auto", "--session", ID, "--fork"])
})

test("opencode: rights, servers and instructions travel in the environment, over what the user set there", async () => {
  const launched = await plan("opencode", {
    mode: "interactive",
    instructions: "Be brief.",
    mcpServers: [{ name: "meridian", command: "meridian", args: ["serve"] }],
    environment: {
      OPENCODE_CONFIG_CONTENT: '{"model":"a/b","instructions":["mine.md"],"mcp":{"x":{"type":"local"}}}',
      npm_config_fetch_retry_mintimeout: "5",
    },
  })
  expect(launched.files).toEqual([{ path: "/scratch/meridian-instructions.md", content: "Be brief." }])
  expect(JSON.parse(launched.environment["OPENCODE_CONFIG_CONTENT"] ?? "")).toEqual({
    model: "a/b",
    instructions: ["mine.md", "/scratch/meridian-instructions.md"],
    mcp: {
      x: { type: "local" },
      meridian: { type: "local", command: ["meridian", "serve"], environment: {} },
    },
  })
  expect(JSON.parse(launched.environment["OPENCODE_PERMISSION"] ?? "")).toMatchObject({
    "*": "deny",
    read: "allow",
    edit: "allow",
    bash: "deny",
    "meridian_*": "allow",
  })
  expect(launched.environment).not.toHaveProperty("npm_config_fetch_retry_mintimeout")
  expect(launched.environment["npm_config_fetch_retry_maxtimeout"]).toBe("1000")
})

test("opencode: a list of tools of an agent becomes rights in its own words", async () => {
  const launched = await plan("opencode", {
    permission: "read-only",
    allowedTools: ["Write", "Bash(npm test)", "Bash(git add:*)", "WebFetch", "not a tool!"],
  })
  expect(JSON.parse(launched.environment["OPENCODE_PERMISSION"] ?? "")).toEqual({
    "*": "deny",
    read: "allow",
    grep: "allow",
    glob: "allow",
    list: "allow",
    skill: "allow",
    todoread: "allow",
    todowrite: "allow",
    edit: "allow",
    bash: { "*": "deny", "npm test": "allow", "git add *": "allow" },
    webfetch: "allow",
  })
})

test("opencode: a run started from a conversation does not inherit that conversation's instructions", async () => {
  const parent = await plan("opencode", { mode: "interactive", instructions: "You lead." })
  const child = await plan("opencode", { environment: parent.environment })
  expect(JSON.parse(child.environment["OPENCODE_CONFIG_CONTENT"] ?? "")).toEqual({ instructions: [] })
})

test.each(["codex", "opencode"])(
  "%s: standing text goes before the first prompt, and is not said again",
  async (id) => {
    const agent = { name: "coder", description: "", body: "You code." }
    const first = await plan(id, { agent, instructions: "Be brief." })
    expect(first.stdin).toEqual({ kind: "text", text: "You code.\n\nBe brief.\n\nWork." })
    const session = { kind: "continue", id: ID } as const
    const again = await plan(id, { agent, instructions: "Be brief.", session })
    expect(again.stdin).toEqual({ kind: "text", text: "Work." })
  },
)

test("direct starts this program again, and puts what may be long into a file", async () => {
  const direct = await directEntry(["/bin/node", "/opt/meridian.js"]).load()
  const base: LaunchRequest = {
    mode: "headless",
    cwd: "/project",
    environment: {},
    session: { kind: "new", chosen: CHOSEN },
    prompt: "Work.",
    scratch: "/scratch",
  }
  expect(direct.launch(base)).toEqual({
    command: "/bin/node",
    args: ["/opt/meridian.js", "direct", "--headless", "--session", CHOSEN, "--permission", "read-only"],
    cwd: "/project",
    environment: { PWD: "/project" },
    stdin: { kind: "text", text: "Work." },
    files: [],
    harnessSessionId: CHOSEN,
    warnings: [],
  })
  const whole = direct.launch({
    ...base,
    mode: "interactive",
    session: { kind: "fork", id: ID, chosen: CHOSEN },
    model: "openai/gpt-5.2",
    effort: "high",
    permission: "full-access",
    instructions: "Be brief.",
    agent: { name: "coder", description: "codes", body: "You code.", tools: ["Read"] },
    allowedTools: ["Read"],
    mcpServers: [{ name: "docs", command: "docs", args: ["serve"] }],
    params: ["--max-turns", "3"],
  })
  expect(whole.args.slice(1).join(" ")).toBe(
    `direct --fork ${ID} --session ${CHOSEN} --model openai/gpt-5.2 --effort high --permission full-access --launch /scratch/direct-launch.json -- --max-turns 3`,
  )
  expect(whole.files.map(({ content }) => JSON.parse(content))).toEqual([
    {
      prompt: "Work.",
      instructions: "Be brief.",
      agent: { name: "coder", body: "You code." },
      allowed_tools: ["Read"],
      mcp_servers: [{ name: "docs", command: "docs", args: ["serve"] }],
    },
  ])
})

test("the form of an answer goes to each harness by its own flag", async () => {
  const schema = { type: "object", properties: { ok: { type: "boolean" } } }
  const claude = await argsOf("claude", { schema })
  expect(claude.slice(claude.indexOf("--json-schema"), claude.indexOf("--json-schema") + 2)).toEqual([
    "--json-schema",
    JSON.stringify(schema),
  ])
  const codex = await plan("codex", { schema, session: { kind: "continue", id: ID } })
  const flag = codex.args.indexOf("--output-schema")
  expect(codex.args[flag + 1]).toBe("/scratch/codex-output-schema.json")
  // Every flag comes before the subcommand.
  expect(codex.args.indexOf("resume")).toBeGreaterThan(flag)
  expect(codex.files).toContainEqual({
    path: "/scratch/codex-output-schema.json",
    content: JSON.stringify(schema),
  })
  for (const id of ["claude", "codex", "opencode"])
    expect(JSON.stringify(await plan(id, { schema, mode: "interactive" }))).not.toContain("boolean")
})
