/** The verbs of permissions. */
import { Context, Effect, Layer } from "effect"

import type { PermissionsApi } from "./api.ts"
import { present, readAbout, readReply, readRevoke } from "./check-input.ts"
import { effectFace, PERMISSION_CALLS, type EffectFace, type VerbsOf } from "./faces.ts"
import { fromThrowing } from "./port/from-throwing.ts"
import { Scheduler } from "./schedule/index.ts"
import { FoldedSessions } from "./session/index.ts"
import { AskPermission } from "./turn/index.ts"

/** The verbs from which both faces are made. */
export class PermissionsTable extends Context.Service<PermissionsTable, VerbsOf<PermissionsApi>>()(
  "meridian/PermissionsTable",
) {
  static readonly layer: Layer.Layer<PermissionsTable, never, AskPermission | Scheduler | FoldedSessions> =
    Layer.effect(
      PermissionsTable,
      Effect.suspend(() => makePermissions),
    )
}

/** The open permission requests of one engine as an Effect service. */
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
        const { sessionID } = yield* fromThrowing(() => readAbout(present(input)))
        if (sessionID !== undefined) yield* sessions.known(sessionID)
        return yield* permissions.list(sessionID)
      }),
    reply: (answer) =>
      Effect.gen(function* () {
        const request = yield* fromThrowing(() => readReply(present(answer)))
        const { sessionID, parked } = yield* permissions.reply(request)
        if (parked) yield* scheduler.wake(sessionID)
      }),
    saved: () => permissions.saved,
    revoke: (input) =>
      Effect.gen(function* () {
        const { id } = yield* fromThrowing(() => readRevoke(present(input)))
        yield* permissions.revoke(id)
      }),
  })
})
