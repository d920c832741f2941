import axe from "axe-core"
import type { Page } from "playwright-core"

/** Only serious problems, which keep a user from using the page. */
export const seriousProblems = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate(axe.source)
  const found: readonly {
    readonly impact: string
    readonly id: string
    readonly nodes: readonly { readonly html: string }[]
  }[] = await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ impact, id, nodes }) => ({ impact, id, nodes: nodes.map(({ html }) => ({ html })) })))",
  )
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`)
}
