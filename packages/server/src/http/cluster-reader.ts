/** The cluster as the database shows it. Reading takes a moment; callers in that time share one answer. */
import { isServerAddress, readCluster, type Cluster } from "@meridian/engine"
import { Failure } from "@meridian/protocol"

export const openClusterReader = (database: string): (() => Promise<Cluster>) => {
  let looking: Promise<Cluster> | undefined
  return async () => {
    if (!isServerAddress(database)) throw new Failure("DATABASE_NO_SERVER")
    looking ??= readCluster(database).finally(() => {
      looking = undefined
    })
    return looking
  }
}
