import { PLAN_RULES, type PermissionRule } from "@meridian/engine"
import { allowsCommand, concernsCommand, matchesWildcard } from "@meridian/protocol"
import { expect, test } from "vitest"

import { permissionRules, type Rights } from "./permission-rules.ts"

/** As the engine decides: the last matching rule. */
const effectOf = (rules: readonly PermissionRule[], action: string, resource: string): string =>
  rules.findLast((rule) => {
    if (!matchesWildcard(rule.action, action)) return false
    if (action !== "bash") return matchesWildcard(rule.resource, resource)
    return (rule.effect === "allow" ? allowsCommand : concernsCommand)(rule.resource, resource)
  })?.effect ?? "ask"

const decide = (rights: Partial<Rights>, action: string, resource: string): string =>
  effectOf(permissionRules({ servers: [], ...rights }), action, resource)

const QUESTIONS = [
  ["read", "src/a.ts"],
  ["edit", "src/a.ts"],
  ["bash", "git status"],
  ["bash", "git status; rm -rf ."],
  ["bash", "npm test"],
  ["external_directory", "/etc"],
  ["unknown_tool", "*"],
  ["todo", "*"],
] as const

test.each([
  [undefined, ["allow", "ask", "allow", "ask", "ask", "ask", "ask", "allow"]],
  ["read-only", ["allow", "deny", "allow", "deny", "deny", "deny", "ask", "allow"]],
  ["workspace-write", ["allow", "allow", "allow", "ask", "ask", "ask", "ask", "allow"]],
  ["full-access", ["allow", "allow", "allow", "allow", "allow", "ask", "allow", "allow"]],
  ["danger", ["allow", "allow", "allow", "allow", "allow", "allow", "allow", "allow"]],
] as const)("%s", (permission, effects) => {
  const rights = permission === undefined ? {} : { permission }
  expect(QUESTIONS.map(([action, resource]) => decide(rights, action, resource))).toEqual(effects)
})

test("a list of tools replaces what the tier allows, in the words of other harnesses", () => {
  const rights = {
    permission: "workspace-write",
    allowedTools: ["Read", "Write", "Bash(npm test:*)", "mcp__docs"],
  } as const
  expect(
    [
      ["read", "a"],
      ["edit", "a"],
      ["glob", "a"],
      ["bash", "npm test"],
      ["bash", "npm test -- --watch"],
      ["bash", "npm testing"],
      ["docs_search", "*"],
      ["other_search", "*"],
    ].map(([action = "", resource = ""]) => decide(rights, action, resource)),
  ).toEqual(["allow", "allow", "ask", "allow", "allow", "ask", "allow", "ask"])
})

test.each([
  ";",
  "&",
  "|",
  "`",
  "$(",
  ">",
  "<",
  "\n",
  "${x@P}",
  "$[x]",
  "\\",
  "*",
  "?",
  "[a]",
  "{a,b}",
  "~",
  "'$x'",
])("an allowed command with %j in it is asked after all", (mark) => {
  expect(decide({ allowedTools: ["Bash(npm test:*)"] }, "bash", `npm test ${mark} rm`)).toBe("ask")
})

test("a read-only run's list allows no edits beyond those it names", () => {
  expect([
    decide({ permission: "read-only", allowedTools: ["Read"] }, "edit", "a"),
    decide({ permission: "read-only", allowedTools: ["Edit"] }, "edit", "a"),
  ]).toEqual(["deny", "allow"])
})

test.each([
  ["docs", "docs_search"],
  ["my docs.v2", "my_docs_v2_search"],
  ["7zip", "mcp_7zip_list"],
])("the server %j of the launch may be used in every tier", (server, tool) => {
  expect(decide({ permission: "read-only", servers: [server] }, tool, "*")).toBe("allow")
})

test("the name of one server never allows the tools of another", () => {
  expect(decide({ servers: ["*"] }, "docs_search", "*")).toBe("ask")
})

const GUARDED = [
  ".git/hooks/pre-commit",
  ".git",
  "library/.git/config",
  ".meridian/config.toml",
  "library/.meridian/agents/a.md",
  ".meridian/.spaces/s1/runs.jsonl",
  ".meridian/.spaces/s1/fs/clone/.git/hooks/pre-commit",
  ".meridian/.spaces/s1/fs/clone/.claude/settings.json",
  ".claude/agents/agent.md",
  ".claude/settings.json",
  "library/.claude/settings.local.json",
  ".opencode/plugins/evil.ts",
  "opencode.json",
  ".codex/hooks.json",
  ".agents/skills/x/SKILL.md",
  ".mcp.json",
  "library/.mcp.json",
  ".envrc",
  ".husky/pre-commit",
  ".githooks/pre-push",
]
const OWN_FILES = [
  ".github/workflows/a.yml",
  ".gitignore",
  "src/.gitkeep",
  ".meridian/.spaces/s1/fs/notes/a.md",
]

test("files that run commands later or decide rights are edited without asking only with full access", () => {
  const effects = (rights: Partial<Rights>, paths: readonly string[]) => [
    ...new Set(paths.map((path) => decide(rights, "edit", path))),
  ]
  expect(effects({ permission: "workspace-write" }, GUARDED)).toEqual(["ask"])
  expect(effects({ permission: "workspace-write" }, OWN_FILES)).toEqual(["allow"])
  expect(effects({ permission: "workspace-write", allowedTools: ["Edit", "Read"] }, GUARDED)).toEqual(["ask"])
  expect(effects({ permission: "workspace-write", allowedTools: ["Edit"] }, OWN_FILES)).toEqual(["allow"])
  expect(effects({ permission: "read-only", allowedTools: ["Read"] }, OWN_FILES)).toEqual(["deny"])
  expect(effects({ permission: "full-access" }, GUARDED)).toEqual(["allow"])
  expect(effects({ permission: "full-access", allowedTools: ["Write"] }, GUARDED)).toEqual(["allow"])
  // Even if a list names them: it may have come with the folder.
  expect(effects({ allowedTools: ["Edit(.git/hooks/*)", "Edit(.claude/*)"] }, GUARDED)).toEqual(["ask"])
})

test("instruction files are guarded if the user wants it", () => {
  const paths = ["AGENTS.md", "CLAUDE.md", "docs/AGENTS.md", ".github/copilot-instructions.md"]
  const effects = (guardInstructions: boolean) =>
    paths.map((path) => decide({ permission: "workspace-write", guardInstructions }, "edit", path))
  expect([effects(false), effects(true)]).toEqual([
    ["allow", "allow", "allow", "allow"],
    ["ask", "ask", "ask", "ask"],
  ])
})

test("the plan agent looks, and acts in no tier", () => {
  for (const permission of [undefined, "workspace-write", "full-access", "danger"] as const) {
    const rules = [
      ...permissionRules({ servers: ["docs"], ...(permission === undefined ? {} : { permission }) }),
      ...PLAN_RULES,
    ]
    const effect = (action: string, resource: string): string => effectOf(rules, action, resource)
    expect([
      effect("read", "a"),
      effect("bash", "git status"),
      effect("bash", "rm a"),
      effect("edit", "a"),
      effect("docs_search", "*"),
      effect("external_directory", "/etc"),
    ]).toEqual(["allow", "allow", "deny", "deny", "deny", "deny"])
  }
})

const rule = (effect: PermissionRule["effect"], action: string, resource = "*"): PermissionRule => ({
  effect,
  action,
  resource,
})

test("rules of the configuration are read after the tier, in their order", () => {
  const rules = [rule("deny", "bash"), rule("allow", "bash", "npm test"), rule("allow", "docs_*")]
  for (const permission of ["workspace-write", "full-access", undefined] as const) {
    const rights = permission === undefined ? { rules } : { permission, rules }
    expect([
      decide(rights, "bash", "npm test"),
      decide(rights, "bash", "git status"),
      decide(rights, "docs_search", "*"),
    ]).toEqual(["allow", "deny", "allow"])
  }
})

test("no rule of the configuration lets a read-only run write", () => {
  const rules = [
    rule("allow", "*"),
    rule("ask", "edit"),
    rule("allow", "docs_*"),
    rule("deny", "read", "secret"),
  ]
  const rights = { permission: "read-only", rules } as const
  expect([
    decide(rights, "edit", "a"),
    decide(rights, "bash", "rm a"),
    decide(rights, "bash", "git status"),
    decide(rights, "docs_search", "*"),
    decide(rights, "read", "secret"),
  ]).toEqual(["deny", "deny", "allow", "allow", "deny"])
})

test("guarded paths stay guarded under a rule that allows edits, and denied paths stay denied", () => {
  const rules = [rule("allow", "edit")]
  expect([
    decide({ permission: "workspace-write", rules }, "edit", ".git/config"),
    decide({ rules }, "edit", ".git/config"),
    decide({ rules }, "edit", "src/a.ts"),
    decide({ rules: [rule("deny", "edit"), rule("allow", "edit", "src/*")] }, "edit", ".git/config"),
    decide({ permission: "full-access", rules }, "edit", ".git/config"),
    decide({ permission: "danger", rules: [rule("deny", "bash", "git push *")] }, "bash", "git push origin"),
  ]).toEqual(["ask", "ask", "allow", "deny", "allow", "deny"])
})
