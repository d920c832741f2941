/** For operators of a server with sessions. Loaded only on use. */
import type { ServerLook } from "./store/postgres/look.ts"
import type { Cluster, Finding } from "./store/postgres/operate.ts"

export { isServerAddress, readAddress, requireKnownAddress } from "./store/postgres/address.ts"
export type { LookedSession, ServerLook } from "./store/postgres/look.ts"
export type { Cluster, ClusterNode, Finding } from "./store/postgres/operate.ts"

const operate = () => import("./store/postgres/operate.ts")

/** Findings about a server, each with what to do. */
export const checkDatabase = async (address: string): Promise<readonly Finding[]> =>
  (await operate()).checkDatabase(address)

/** Creates or updates the schema. Returns the address without its password. */
export const migrateDatabase = async (address: string): Promise<string> =>
  (await operate()).migrateDatabase(address)

/** The nodes of a server, and the sessions that wait there. */
export const readCluster = async (address: string): Promise<Cluster> => (await operate()).readCluster(address)

/** Its sessions, read-only. */
export const lookAtServer = async (address: string): Promise<ServerLook> =>
  (await import("./store/postgres/look.ts")).openLook(address)
