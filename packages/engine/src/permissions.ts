/** The verbs of permissions. */
import { Context, Effect, Layer } from "effect"

import type { PermissionsApi } from "./api.ts"
import { checkReply } from "./check-input.ts"
import { fieldsOf, sessionOf } from "./check-options.ts"
import { effectFace, PERMISSION_CALLS, type EffectFace, type VerbsOf } from "./faces.ts"
import { fromThrowing } from "./port/from-throwing.ts"
import { Scheduler } from "./schedule/index.ts"
import { FoldedSessions } from "./session/index.ts"
import { AskPermission } from "./turn/index.ts"

/** The verbs as both faces are made from them. */
export class PermissionsTable extends Context.Service<PermissionsTable, VerbsOf<PermissionsApi>>()(
  "meridian/PermissionsTable",
) {
  static readonly layer: Layer.Layer<PermissionsTable, never, AskPermission | Scheduler | FoldedSessions> =
    Layer.effect(
      PermissionsTable,
      Effect.suspend(() => makePermissions),
    )
}

/** The open questions of one engine as an Effect service. */
export class Permissions extends Context.Service<Permissions, EffectFace<PermissionsApi>>()(
  "meridian/Permissions",
) {
  static readonly layer: Layer.Layer<Permissions, never, PermissionsTable> = Layer.effect(
    Permissions,
    Effect.map(PermissionsTable, (verbs) => effectFace<PermissionsApi>(verbs, PERMISSION_CALLS)),
  )
}

const makePermissions = Effect.gen(function* () {
  const permissions = yield* AskPermission
  const scheduler = yield* Scheduler
  const sessions = yield* FoldedSessions
  return PermissionsTable.of({
    list: (input = {}) =>
      Effect.gen(function* () {
        const { sessionID } = yield* fromThrowing(() => fieldsOf(input, "The request"))
        if (sessionID === undefined) return yield* permissions.list()
        const session = yield* fromThrowing(() => sessionOf(sessionID))
        yield* sessions.known(session)
        return yield* permissions.list(session)
      }),
    reply: (answer) =>
      Effect.gen(function* () {
        yield* fromThrowing(() => {
          fieldsOf(answer, "The request")
          checkReply(answer.reply)
        })
        const { sessionID, parked } = yield* permissions.reply(answer)
        if (parked) yield* scheduler.wake(sessionID)
      }),
    saved: () => permissions.saved,
    revoke: (input) =>
      Effect.gen(function* () {
        const { id } = yield* fromThrowing(() => fieldsOf(input, "The request"))
        yield* permissions.revoke(String(id))
      }),
  })
})
