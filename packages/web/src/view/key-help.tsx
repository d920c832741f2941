import { useEffect, useRef, useState } from "preact/hooks"

import { useApp } from "../state/app.ts"

const KEYS = [
  ["?", "this help"],
  ["/", "search the sessions"],
  ["n", "new session"],
  ["p", "write a prompt"],
  ["t", "the timeline: then arrows, Page Up and Down, Home, End"],
  ["q", "what waits for your answer"],
  ["s", "sessions"],
  ["w", "spaces"],
  ["Enter", "sends a prompt; Shift+Enter starts a new line"],
  ["Escape", "leaves a field or a dialog"],
] as const

/** Single keys, for people who do not use a mouse. They do nothing while the user types. */
export const KeyHelp = () => {
  const app = useApp()
  const [isOpen, setIsOpen] = useState(false)
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") !== null)
        return
      const { target } = event
      if (target instanceof HTMLElement && isField(target)) {
        if (event.key === "Escape") target.blur()
        return
      }
      const act = ACTS[event.key]
      if (event.key !== "?" && act === undefined) return
      event.preventDefault()
      if (act === undefined) setIsOpen(true)
      else act(app)
    }
    document.addEventListener("keydown", press)
    return () => document.removeEventListener("keydown", press)
  }, [])
  useEffect(() => {
    if (isOpen) dialog.current?.showModal()
  }, [isOpen])
  return (
    <>
      <button type="button" class="quiet" aria-label="Keys" title="Keys (?)" onClick={() => setIsOpen(true)}>
        ?
      </button>
      {isOpen ? (
        <dialog ref={dialog} class="receipt keys" aria-label="Keys" onClose={() => setIsOpen(false)}>
          <div class="receipt-head">
            <h2>Keys</h2>
            <button type="button" onClick={() => dialog.current?.close()}>
              Close
            </button>
          </div>
          <dl class="facts">
            {KEYS.map(([key, what]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </dialog>
      ) : null}
    </>
  )
}

const isField = (element: HTMLElement): boolean =>
  element.isContentEditable || /^(?:input|textarea|select)$/i.test(element.tagName)

const focus = (selector: string): void => document.querySelector<HTMLElement>(selector)?.focus()

const ACTS: Readonly<Record<string, (app: ReturnType<typeof useApp>) => void>> = {
  "/": () => focus("#search"),
  n: () => document.querySelector<HTMLElement>("#new-session")?.click(),
  p: () => focus(".composer textarea"),
  t: () => focus(".feed"),
  q: (app) => app.go({ place: "questions" }),
  s: (app) => app.go({ place: "sessions" }),
  w: (app) => app.go({ place: "spaces" }),
}
