/**
 * The order in which runs are applied, so that few of them conflict. A run that conflicts with fewer others comes
 * first, so that one run in the way of many does not keep all of them out. Among equals, the run that began first
 * wins.
 */
export interface Applicant<Id extends string> {
  readonly id: Id
  /** The others it cannot be merged with. */
  readonly conflicts: ReadonlySet<Id>
}

export const applyOrder = <Id extends string>(applicants: readonly Applicant<Id>[]): readonly Id[] => {
  const left = [...applicants]
  const order: Id[] = []
  const last: Id[] = []
  while (left.length > 0) {
    const open = new Set(left.map(({ id }) => id))
    const degree = ({ conflicts }: Applicant<Id>): number =>
      [...conflicts].filter((id) => open.has(id)).length
    const [first] = left.toSorted((one, other) => degree(one) - degree(other))
    if (first === undefined) break
    order.push(first.id)
    const lost = new Set(left.filter(({ id }) => first.conflicts.has(id)).map(({ id }) => id))
    // Try it anyway, at the end: what conflicts with the run may not conflict with the merged result.
    last.push(...lost)
    left.splice(0, left.length, ...left.filter(({ id }) => id !== first.id && !lost.has(id)))
  }
  return [...order, ...last]
}

/** Pairs that touch a common file. Only these have to be tried against each other. */
export const pairsToTry = <Id extends string>(
  touched: ReadonlyMap<Id, ReadonlySet<string>>,
): readonly (readonly [Id, Id])[] => {
  const ids = [...touched.keys()]
  return ids.flatMap((one, index) =>
    ids.slice(index + 1).flatMap((other): readonly (readonly [Id, Id])[] => {
      const [paths, others] = [touched.get(one), touched.get(other)]
      return paths !== undefined && others !== undefined && [...paths].some((path) => others.has(path))
        ? [[one, other]]
        : []
    }),
  )
}
