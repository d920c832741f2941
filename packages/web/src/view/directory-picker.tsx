import { useEffect, useState } from "preact/hooks"

import { useApp } from "../state/app.ts"
import { useNewest } from "./use-newest.ts"

/** A directory on the server's machine: typed, chosen from earlier ones, or found by browsing from the server's project. */
export const DirectoryPicker = (props: {
  readonly value: string
  readonly known: readonly string[]
  readonly onPick: (directory: string) => void
}) => {
  const { value, known, onPick } = props
  const { client } = useApp()
  const [here, setHere] = useState<Listing>()
  const [isOpen, setIsOpen] = useState(false)
  const { ask, overtake, problem } = useNewest()
  const look = (path: string): void =>
    void ask(
      () => client.server.directories(path.trim() === "" ? {} : { path: path.trim() }),
      (listing) => {
        setHere(listing)
        onPick(listing.path)
      },
    )
  // No directory was used yet, so begin where the server was started.
  useEffect(() => {
    if (value === "") look("")
  }, [])
  return (
    <div class="picker">
      <label>
        Directory
        <input
          required
          list="directories"
          placeholder="/absolute/path/of/the/project"
          value={value}
          onInput={(event) => {
            // A listing that is still on its way must not replace what the user types.
            overtake()
            onPick(event.currentTarget.value)
          }}
        />
      </label>
      <datalist id="directories">
        {known.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <button
        type="button"
        class="quiet"
        aria-expanded={isOpen}
        onClick={() => {
          setIsOpen(!isOpen)
          if (!isOpen) look(value)
        }}
      >
        {isOpen ? "Close the folders" : "Choose a folder"}
      </button>
      {isOpen && here !== undefined ? <p class="path">{here.path}</p> : null}
      {isOpen && here !== undefined ? (
        <ul class="folders" aria-label={`Folders in ${here.path}`}>
          {here.parent === undefined ? null : (
            <li>
              <button type="button" class="quiet" onClick={() => look(here.parent ?? "")}>
                .. (up)
              </button>
            </li>
          )}
          {here.names.map((name) => (
            <li key={name}>
              <button
                type="button"
                class="quiet"
                onClick={() => look(`${here.path.replace(/\/$/, "")}/${name}`)}
              >
                {name}
              </button>
            </li>
          ))}
          {here.isCut ? <li class="faint">and more</li> : null}
        </ul>
      ) : null}
      {problem === undefined ? null : <p role="alert">{problem}</p>}
    </div>
  )
}

interface Listing {
  readonly path: string
  readonly parent?: string
  readonly names: readonly string[]
  readonly isCut: boolean
}
