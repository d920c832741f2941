import { ANY } from "@meridian/protocol"
import { defineMeta, type Registration } from "@meridian/spaces"
import { expect, test } from "vitest"

import { findCommand } from "./find-command.ts"

const command = (name: string): Registration => ({
  meta: defineMeta({ name, audience: "agent", summary: "", fields: {}, output: ANY }),
  load: () => Promise.reject(new Error("not loaded")),
})

const COMMANDS = ["start", "space.list", "run.spawn", "run.list", "run.show", "doctor", "config.show"].map(
  command,
)

const found = (line: string): unknown => {
  const answer = findCommand(line.split(" ").filter(Boolean), COMMANDS)
  return answer.tag === "command" ? [answer.command.meta.name, ...answer.rest] : answer
}

test.each([
  ["run list --limit 3", ["run.list", "--limit", "3"]],
  ["--json run --format text list", ["run.list", "--json", "--format", "text"]],
  ["--config x.toml doctor", ["doctor", "--config", "x.toml"]],
  ["--config=x.toml -y doctor", ["doctor", "--config=x.toml", "-y"]],
  ["run -p hello", ["run.spawn", "-p", "hello"]],
  ["run --json -p list", ["run.spawn", "--json", "-p", "list"]],
  ["start -- --continue", ["start", "--", "--continue"]],
])("'%s' is a command", (line, expected) => {
  expect(found(line)).toEqual(expected)
})

test.each([
  ["", { tag: "none", rest: [] }],
  ["--help", { tag: "none", rest: ["--help"] }],
  ["run", { tag: "group", group: "run", rest: [] }],
  ["run --help", { tag: "group", group: "run", rest: ["--help"] }],
  ["space --json", { tag: "group", group: "space", rest: ["--json"] }],
])("'%s' is no command yet", (line, expected) => {
  expect(found(line)).toEqual(expected)
})

test.each([
  ["strat", "start"],
  ["spawn", "run spawn"],
  ["lst", "space list"],
  ["run spwan", "run spawn"],
  ["run lits", "run list"],
  ["docter", "doctor"],
  ["frobnicate", undefined],
  ["run frobnicate", undefined],
])("'%s' suggests %s", (line, suggestion) => {
  expect(found(line)).toEqual({ tag: "unknown", words: line, suggestion })
})
