/** `meridian permissions list|revoke`. */
import type { SavedPermission } from "@meridian/engine"
import { Failure, oneLine, textOfPattern } from "@meridian/protocol"
import { implement, type World } from "@meridian/spaces"

import { lookWithEngine } from "./look-with-engine.ts"
import { PERMISSIONS_LIST, PERMISSIONS_REVOKE } from "./permissions.meta.ts"

export const permissionsList = implement(PERMISSIONS_LIST, {
  run: ({ database }, world) =>
    lookWithEngine(database, world, async (engine) => ({
      permissions: (await engine.permissions.saved()).map(toDocument),
    })),
  text: ({ permissions }) =>
    permissions.length === 0
      ? "Nothing is allowed for good."
      : permissions
          .map(({ permission_id, action, resource, directory }) =>
            [permission_id, action, oneLine(resource), oneLine(directory)].join("  "),
          )
          .join("\n"),
})

export const permissionsRevoke = implement(PERMISSIONS_REVOKE, {
  run: async ({ permissions, all, database }, world) => {
    requirePerson(world)
    if (all === permissions.length > 0)
      throw new Failure("USAGE", {
        problem: "'permissions revoke' takes ids or --all.",
        next: "run 'meridian permissions list' to see the ids.",
      })
    return lookWithEngine(database, world, async (engine) => {
      const saved = (await engine.permissions.saved()).map(({ id }) => id)
      const unknown = permissions.find((id) => !saved.includes(id))
      if (unknown !== undefined) throw new Failure("APPROVAL_NOT_FOUND", { approval: unknown })
      const revoked = all ? saved : [...new Set(permissions)]
      for (const id of revoked) await engine.permissions.revoke({ id })
      return { revoked }
    })
  },
  text: ({ revoked }) => (revoked.length === 0 ? "Nothing was saved." : `revoked: ${revoked.join(", ")}`),
})

/** As a person reads it: an approval of one text is shown as that text. */
const toDocument = ({ id, action, resource, project, sessionID, time }: SavedPermission) => ({
  permission_id: id,
  action,
  resource: textOfPattern(resource) ?? resource,
  directory: project,
  session_id: sessionID,
  at: new Date(time).toISOString(),
})

/** An agent must not change a person's decisions about rights. */
const requirePerson = ({ mode, face }: Pick<World, "mode" | "face">): void => {
  if (mode === "agent" || face === "tool")
    throw new Failure("TRUST_NEEDS_PERSON", { command: "permissions revoke" })
}
