/** What an engine offers to the other nodes of its cluster: workspaces, places, an address. */
import { statSync } from "node:fs"
import { isAbsolute, resolve } from "node:path"

import { Failure } from "@meridian/protocol"

import type { EngineOptions } from "./api.ts"
import { SHARED, type Workspaces } from "./domain/workspaces.ts"
import { isServerAddress } from "./store/postgres/address.ts"
import { FORMAT } from "./store/postgres/schema.ts"
import type { NodeOffer } from "./store/postgres/workers.ts"

interface Options {
  readonly database: string
  readonly worker?: EngineOptions["worker"] | undefined
}

const DEFAULT_PLACES = 200

/** Undefined: the database belongs to this machine alone, which has every workspace. */
export const workspacesOf = ({ database, worker }: Options): Workspaces | undefined => {
  const given = worker === false ? undefined : worker?.workspaces
  if (Array.isArray(given)) return new Map(given.map((name) => [name, undefined]))
  if (given !== undefined)
    return new Map(Object.entries(given).map(([name, directory]) => [name, folder(name, directory)]))
  if (!isServerAddress(database)) return undefined
  return worker === false ? new Map() : new Map([[SHARED, undefined]])
}

/** The offer as other nodes see it. */
export const offerOf = (options: Options): NodeOffer => {
  const { worker } = options
  return {
    places: worker === false ? 0 : (worker?.sessions ?? DEFAULT_PLACES),
    workspaces: [...(workspacesOf(options)?.keys() ?? [SHARED])],
    format: FORMAT,
    ...(worker === false || worker?.address === undefined
      ? {}
      : { address: worker.address.replace(/\/$/, "") }),
  }
}

const folder = (name: string, directory: string): string => {
  if (!isAbsolute(directory))
    throw new Failure("INVALID_INPUT", {
      what: `The folder of workspace ${name} is an absolute path, not ${directory}`,
    })
  const path = resolve(directory)
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new Failure("LOCATION_NOT_FOUND", { directory: path })
  return path
}
