import { expect, test } from "vitest"

import { COMMANDS } from "./commands.ts"

test("every command that agents are shown is a tool of the MCP server too, under its own name", () => {
  const shown = COMMANDS.filter(({ meta }) => meta.audience === "agent" && meta.hidden !== true)
  expect(shown.length).toBeGreaterThan(10)
  expect(shown.map(({ meta }) => meta.tool)).toEqual(shown.map(({ meta }) => meta.name.replace(".", "_")))
})
