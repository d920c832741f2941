/** For whoever operates a server with sessions. Loaded only where it is used. */
import type { ServerLook } from "./store/postgres/look.ts"
import type { Cluster, Finding } from "./store/postgres/operate.ts"

export { isServerAddress, readAddress, requireKnownAddress } from "./store/postgres/address.ts"
export type { LookedSession, ServerLook } from "./store/postgres/look.ts"
export type { Cluster, ClusterNode, Finding } from "./store/postgres/operate.ts"

const operate = () => import("./store/postgres/operate.ts")

/** What is good about a server and what is not, each with what to do. */
export const checkDatabase = async (address: string): Promise<readonly Finding[]> =>
  (await operate()).checkDatabase(address)

/** Makes the schema, or brings it up to date. Gives the address back, as it may be shown. */
export const migrateDatabase = async (address: string): Promise<string> =>
  (await operate()).migrateDatabase(address)

/** The nodes of a server, and what waits there. */
export const readCluster = async (address: string): Promise<Cluster> => (await operate()).readCluster(address)

/** Its sessions, for those who only look. */
export const lookAtServer = async (address: string): Promise<ServerLook> =>
  (await import("./store/postgres/look.ts")).openLook(address)
