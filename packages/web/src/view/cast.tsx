import type { SessionInfo } from "@meridian/server/client"

import { useApp } from "../state/app.ts"
import { useAct } from "./use-act.ts"

/** Shows and changes the model and the agent from the next turn on. */
export const Cast = ({
  info,
  lastModel,
}: {
  readonly info: SessionInfo
  readonly lastModel: string | undefined
}) => {
  const app = useApp()
  const { act, isActing, problem } = useAct()
  const models = app.models.value.map(({ id }) => id)
  const model = info.model ?? app.models.value.find(({ isDefault }) => isDefault)?.id ?? lastModel ?? ""
  return (
    <>
      <Pick
        label="Model"
        value={model}
        values={models}
        isDisabled={isActing}
        onPick={(next) => act(() => app.client.sessions.switchModel({ sessionID: info.id, model: next }))}
      />
      <Pick
        label="Agent"
        value={info.agent}
        values={app.agents.value}
        isDisabled={isActing}
        onPick={(next) => act(() => app.client.sessions.switchAgent({ sessionID: info.id, agent: next }))}
      />
      {problem === undefined ? null : <span role="alert">{problem}</span>}
    </>
  )
}

/** A value that the server no longer offers is still shown. */
const Pick = (props: {
  readonly label: string
  readonly value: string
  readonly values: readonly string[]
  readonly isDisabled: boolean
  readonly onPick: (value: string) => void
}) => (
  <label class="pick">
    <span class="hidden">{props.label}</span>
    <select
      title={props.label}
      value={props.value}
      disabled={props.isDisabled}
      onChange={(event) => props.onPick(event.currentTarget.value)}
    >
      {[...new Set([props.value, ...props.values])].map((value) => (
        <option key={value} value={value}>
          {value}
        </option>
      ))}
    </select>
  </label>
)
