import type { ChatDocument, RunRow } from "@meridian/server/client"

import { failureText } from "../domain/failure-text.ts"
import { fragmentOf } from "../domain/route.ts"
import { runTree, totalCost, type RunNode } from "../domain/run-tree.ts"
import { agoText, costText, durationText } from "../domain/text.ts"
import { useApp } from "../state/app.ts"
import { ChatCompactions } from "./chat-compactions.tsx"
import { SessionLink } from "./session-link.tsx"
import { Status } from "./session-list.tsx"
import { usePolled } from "./use-polled.ts"

/** A read-only view of a space: its chats and its runs. */
export const SpacePage = ({ id }: { readonly id: string }) => {
  const { spaces } = useApp().client
  const { value, failure } = usePolled(id, async () => {
    const [space, { items }] = await Promise.all([
      spaces.get({ spaceID: id }),
      spaces.runs({ spaceID: id, limit: MOST_RUNS }),
    ])
    return { space, runs: items }
  })
  if (failure !== undefined && value === undefined)
    return (
      <p class="empty" role="alert">
        {failureText(failure)}
      </p>
    )
  if (value === undefined) return <p class="empty">Loading…</p>
  const { space, runs } = value
  return (
    <div class="space">
      <div class="session-head">
        <h1>{space.name ?? space.spaceId}</h1>
        <div class="session-facts">
          <Status status={space.status} />
          <span>{space.spaceId}</span>
          <span>started {agoText(Date.parse(space.startedAt), Date.now())}</span>
          <span>{runsText(runs.length)}</span>
          <span>{costText(totalCost(runs))}</span>
        </div>
      </div>
      <Chats spaceID={space.spaceId} chats={space.chats} />
      <Runs runs={runs} />
    </div>
  )
}

const MOST_RUNS = 1_000

const runsText = (count: number): string => {
  if (count >= MOST_RUNS) return `the newest ${MOST_RUNS} runs`
  return count === 1 ? "1 run" : `${count} runs`
}

const Chats = (props: { readonly spaceID: string; readonly chats: readonly ChatDocument[] }) => (
  <section>
    <h2>Chats</h2>
    {props.chats.length === 0 ? <p class="faint">None yet.</p> : null}
    <ul class="lines">
      {props.chats.map((chat) => (
        <li key={chat.chatId}>
          <strong>{chat.chatId}</strong>
          <Status status={chat.alive ? "alive" : "ended"} />
          <span>{chat.harness}</span>
          <span>{chat.model === "" ? "default model" : chat.model}</span>
          {chat.agent === undefined ? null : <span>agent {chat.agent}</span>}
          <SessionLink of={chat} />
          {chat.resumeCommand === undefined ? null : <code>{chat.resumeCommand}</code>}
          <ChatCompactions spaceID={props.spaceID} chat={chat} />
        </li>
      ))}
    </ul>
  </section>
)

const Runs = ({ runs }: { readonly runs: readonly RunRow[] }) => (
  <section>
    <h2>Runs</h2>
    {runs.length === 0 ? (
      <p class="faint">None yet.</p>
    ) : (
      <div class="table" tabIndex={0} role="region" aria-label="Run tree">
        <table role="treegrid" aria-label="Run tree">
          <thead>
            <tr>
              <th scope="col">Run</th>
              <th scope="col">Status</th>
              <th scope="col" class="beside">
                Model
              </th>
              <th scope="col" class="number beside">
                Time
              </th>
              <th scope="col" class="number">
                Cost
              </th>
              <th scope="col" class="number">
                With all below
              </th>
            </tr>
          </thead>
          <tbody>
            {runTree(runs).map((node) => (
              <RunLine key={node.run.runId} node={node} />
            ))}
          </tbody>
        </table>
      </div>
    )}
  </section>
)

const RunLine = ({ node: { run, level, children, cost } }: { readonly node: RunNode }) => (
  <tr aria-level={level} aria-expanded={children > 0 ? true : undefined}>
    <td style={{ paddingInlineStart: `${0.5 + Math.min(level - 1, 12) * 1.25}rem` }}>
      {level > 1 ? <span class="branch" aria-hidden="true" /> : null}
      <a href={fragmentOf({ place: "run", spaceID: run.spaceId, id: run.runId })}>{run.runId}</a>
      {run.agent === undefined ? "" : ` ${run.agent}`}
      {run.task === undefined ? "" : ` ${run.task}`}
    </td>
    <td>
      <Status status={run.status} />
    </td>
    <td class="beside">
      {run.model}
      {run.harness === undefined ? "" : ` (${run.harness})`}
    </td>
    <td class="number beside">
      {run.durationSecs === undefined ? "–" : durationText(run.durationSecs * 1_000)}
    </td>
    <td class="number">{run.costUsd === undefined ? "–" : costText(run.costUsd)}</td>
    <td class="number">{children === 0 ? "" : costText(cost)}</td>
  </tr>
)
