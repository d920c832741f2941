/**
 * Where `read` may look: below the working directory, below a named place (a reference), or at one kept output of a tool.
 * Kept outputs are not listed: the model must have been told the name.
 */
import { resolve } from "node:path"

import { nearest } from "@meridian/protocol"

import { ToolError } from "../port/tool.ts"
import { resolveInside, type Place, type ResolvedPath } from "./resolve-path.ts"
import { KEPT_NAME } from "./spool.ts"

export interface NamedPlace {
  readonly name: string
  /** Absolute, or relative to the working directory. */
  readonly path: string
}

export interface ReadPlaces extends Place {
  readonly outputDirectory: string
  readonly references?: readonly NamedPlace[]
}

export const OUTPUT_REFERENCE = "output"

/** Outside the project the resource is the full path, because rules about project files do not apply to it. */
export const resolveReadable = async (
  places: ReadPlaces,
  named: string,
  reference: string | undefined,
): Promise<ResolvedPath> => {
  if (reference === undefined) return resolveInside(places, named)
  const resolved = await resolveInside(placeOf(places, named, reference), named)
  return { ...resolved, resource: resolved.absolute, external: true }
}

const placeOf = (places: ReadPlaces, named: string, reference: string): Place => {
  const references = places.references ?? []
  const known = references.find(({ name }) => name === reference)
  if (known !== undefined) {
    const directory = resolve(places.directory, known.path)
    return { root: directory, directory }
  }
  if (reference === OUTPUT_REFERENCE) {
    if (!KEPT_NAME.test(named))
      throw new ToolError("denied", "Of the kept outputs only one that was named to you can be read.")
    return { root: places.outputDirectory, directory: places.outputDirectory }
  }
  const names = [OUTPUT_REFERENCE, ...references.map(({ name }) => name)]
  const near = nearest(reference, names)
  throw new ToolError(
    "invalid-input",
    `There is no reference ${JSON.stringify(reference.slice(0, 100))}. ${near === undefined ? `There are: ${names.join(", ")}.` : `Did you mean ${near}?`}`,
  )
}
