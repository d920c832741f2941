import type { SavedPermission } from "@meridian/server/client"
import { useEffect, useState } from "preact/hooks"

import { useApp } from "../state/app.ts"
import { useAct } from "./use-act.ts"

/** What was allowed permanently, each with a button to revoke it. Fetched again after every answer to a question. */
export const Approvals = () => {
  const { client, permissions } = useApp()
  const [saved, setSaved] = useState<readonly SavedPermission[]>([])
  const { act, isActing, problem } = useAct()
  const load = async (): Promise<void> => setSaved((await client.permissions.saved()).items)
  const open = permissions.value.length
  useEffect(() => act(load), [open])
  const revoke = (id: string): void =>
    act(async () => {
      await client.permissions.revoke({ id })
      await load()
    })
  if (saved.length === 0 && problem === undefined) return null
  return (
    <section aria-label="Allowed for good">
      <h2>Allowed for good</h2>
      <ul class="lines">
        {saved.map(({ id, action, resource, project }) => (
          <li key={id}>
            {action} <code>{resource}</code> in {project}{" "}
            <button
              type="button"
              disabled={isActing}
              aria-label={`Revoke ${action} ${resource}`}
              onClick={() => revoke(id)}
            >
              Revoke
            </button>
          </li>
        ))}
      </ul>
      {problem === undefined ? null : <p role="alert">{problem}</p>}
    </section>
  )
}
