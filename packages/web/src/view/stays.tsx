/** The node that has a session or had it last, and the earlier ones. */
import type { SessionStay } from "@meridian/server/client"

export const Stays = ({ stays }: { readonly stays: readonly SessionStay[] }) => {
  const last = stays.at(-1)
  if (last === undefined) return null
  if (stays.length === 1) return <span title="The node that works on it or last did">{last.node}</span>
  return (
    <details class="stays">
      <summary>
        {last.node} · moved {stays.length - 1} {stays.length === 2 ? "time" : "times"}
      </summary>
      <ol aria-label="Nodes that had it">
        {stays.map(({ node, seq, time }) => (
          <li key={`${seq} ${time}`}>
            <time dateTime={new Date(time).toISOString()}>{new Date(time).toLocaleString()}</time> {node},
            after event {seq}
          </li>
        ))}
      </ol>
    </details>
  )
}
