/** The short run of bench/hosts: the same story with two compactions in a row, in each real program. */
import { expect, test } from "vitest"

import { claude } from "../../bench/hosts/claude.ts"
import { codex } from "../../bench/hosts/codex.ts"
import { engine } from "../../bench/hosts/engine.ts"
import { measureHost, shortfallsOf } from "../../bench/hosts/measure.ts"
import { opencode } from "../../bench/hosts/opencode.ts"
import { SHORT } from "../../bench/hosts/scenario.ts"

test.each([engine, opencode, claude, codex])(
  "$name: every kind of fact is in the first request after each of two compactions, though the summary invents",
  { timeout: 300_000 },
  async (host) => {
    const figures = await measureHost(host, SHORT)
    expect([figures.compactions, figures.invented]).toEqual([2, 2])
    expect([...figures.missing, ...shortfallsOf(figures)]).toEqual([])
  },
)
