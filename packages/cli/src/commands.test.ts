import { expect, test } from "vitest"

import { COMMANDS } from "./commands.ts"

test("every command shown to agents is also a tool of the MCP server, under its own name", () => {
  const shown = COMMANDS.filter(({ meta }) => meta.audience === "agent" && meta.hidden !== true)
  expect(shown.length).toBeGreaterThan(10)
  expect(shown.map(({ meta }) => meta.tool)).toEqual(shown.map(({ meta }) => meta.name.replace(".", "_")))
})
