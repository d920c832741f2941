import { useState } from "preact/hooks"

import { useApp } from "../state/app.ts"
import { DirectoryPicker } from "./directory-picker.tsx"
import { useAct } from "./use-act.ts"

/** A session needs a directory on the server's machine. The last used one is suggested. */
export const NewSession = () => {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <div class="new-session">
      <button id="new-session" type="button" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        New session
      </button>
      {isOpen ? <Form onDone={() => setIsOpen(false)} /> : null}
    </div>
  )
}

const Form = ({ onDone }: { readonly onDone: () => void }) => {
  const app = useApp()
  const known = [...new Set(app.sessions.value?.map((session) => session.location.directory))]
  const [directory, setDirectory] = useState(known[0] ?? "")
  const [title, setTitle] = useState("")
  const [model, setModel] = useState("")
  const { act, isActing, problem } = useAct()
  const create = (event: Event): void => {
    event.preventDefault()
    act(async () => {
      const { id } = await app.client.sessions.create({
        location: { directory: directory.trim() },
        ...(title.trim() === "" ? {} : { title: title.trim() }),
        ...(model === "" ? {} : { model }),
      })
      onDone()
      app.go({ place: "session", id })
    })
  }
  return (
    <form onSubmit={create}>
      <DirectoryPicker value={directory} known={known} onPick={setDirectory} />
      <label>
        Title
        <input
          maxLength={300}
          placeholder="optional"
          value={title}
          onInput={(event) => setTitle(event.currentTarget.value)}
        />
      </label>
      {app.models.value.length < 2 ? null : (
        <label>
          Model
          <select value={model} onChange={(event) => setModel(event.currentTarget.value)}>
            <option value="">default</option>
            {app.models.value.map(({ id }) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </select>
        </label>
      )}
      {problem === undefined ? null : <p role="alert">{problem}</p>}
      <button type="submit" class="primary" disabled={isActing}>
        Create
      </button>
    </form>
  )
}
