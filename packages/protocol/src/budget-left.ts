/** What an agent is told on the way to a cap, in the engine and in every other harness. */
export const sayBudgetLeft = (
  caps: readonly { readonly left: string; readonly cap: string; readonly usedPercent: number }[],
): string => {
  const left = caps.map((one) => `${one.left} of ${one.cap} (${Math.floor(one.usedPercent)} % used)`)
  return `What is left of the budget for this work: ${left.join("; ")}. When it is used up, the work is paused until a person decides. Spend the rest on what matters most, and leave things in a state that somebody can go on with.`
}
