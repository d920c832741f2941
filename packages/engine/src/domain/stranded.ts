/** Sessions with work that no process can take up: what the processes offer, and why it is not enough. Pure. */

/** A process that shares the database. */
export interface Offer {
  readonly workspaces: readonly string[]
  /** The newest session format that the process knows. */
  readonly format: number
  readonly places: number
  /** How many sessions the process has. */
  readonly taken: number
  readonly leaves: boolean
}

export interface Wanted {
  readonly workspace: string
  readonly format: number
}

export interface Stranded extends Wanted {
  /**
   * `nobody`: no process works at all. `workspace`: no working process has the workspace. `newer`: no process knows the
   * session's format. `places`: all processes that could are full.
   */
  readonly why: "nobody" | "workspace" | "newer" | "places"
}

/** Undefined: some process can take it up. */
export const findStranded = (wanted: Wanted, offers: readonly Offer[]): Stranded | undefined => {
  const stranded = (why: Stranded["why"]): Stranded => ({ ...wanted, why })
  const working = offers.filter(({ places, leaves }) => places > 0 && !leaves)
  if (working.length === 0) return stranded("nobody")
  const there = working.filter(({ workspaces }) => workspaces.includes(wanted.workspace))
  if (there.length === 0) return stranded("workspace")
  const able = there.filter(({ format }) => format >= wanted.format)
  if (able.length === 0) return stranded("newer")
  return able.every(({ places, taken }) => taken >= places) ? stranded("places") : undefined
}

export const describeStranded = ({ why, workspace }: Stranded): string => {
  switch (why) {
    case "nobody":
      return "no node works on sessions now"
    case "workspace":
      return `no node offers the workspace ${workspace}`
    case "newer":
      return `a newer Meridian has written to it than the nodes that offer the workspace ${workspace} are`
    case "places":
      return `every node that offers the workspace ${workspace} has as many sessions as it takes`
  }
}
