/** How deep a new run would be in its family. The variable can be forged or lost; the parent's row cannot. */
export const depthOf = (facts: {
  readonly variable: string | undefined
  readonly parentDepth: number | undefined
}): number => {
  const told = /^[0-9]{1,6}$/.test(facts.variable ?? "") ? Number(facts.variable) : 0
  return Math.max(told, facts.parentDepth === undefined ? 0 : facts.parentDepth + 1)
}
