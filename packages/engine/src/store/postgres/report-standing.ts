/** Reports the state of this node to observers of this process. Asks the server nothing while there are none. */
import type { Effect, Scope } from "effect"

import { isNodeHeard, sayNode } from "../../port/say-aloud.ts"
import { SERVER_TIME, unclaimed } from "./leases.ts"
import type { Node } from "./node.ts"

export const reportStanding = (
  { address: { schema }, reads, workers, offer, silentMs, every }: Node,
  everyMs: number,
): Effect.Effect<unknown, never, Scope.Scope> =>
  every(everyMs, async () => {
    if (!isNodeHeard()) return
    const [row] = await reads.ask(
      `with waiting as (
         select coalesce((select min(i.admitted) from ${schema}.input i where i.session = s.key and i.resume), s.parked_until) as since
         from ${schema}.session s where ${unclaimed(schema, SERVER_TIME)})
       select (select count(*) from ${schema}.session where owner = $1) as sessions,
         (select count(*) from waiting) as waiting,
         (select coalesce(greatest(0, ${SERVER_TIME} - min(since)), 0) from waiting) as waited`,
      [workers.me],
    )
    sayNode({
      silentMs: silentMs(),
      sessions: Number(row?.["sessions"]),
      places: offer.places,
      waiting: Number(row?.["waiting"]),
      waitingMs: Number(row?.["waited"]),
    })
  })
