import type { HttpFailure } from "@meridian/server/client"
import { useState } from "preact/hooks"

import { failureText } from "../domain/failure-text.ts"

/** Without a token nothing can be shown. The address that `meridian serve --http` prints contains it. */
export const SignIn = ({ failure }: { readonly failure?: HttpFailure }) => {
  const [token, setToken] = useState("")
  return (
    <main class="sign-in">
      <h1>Meridian</h1>
      {failure === undefined ? (
        <p>
          Open the address that <code>meridian serve --http</code> printed, or paste its token.
        </p>
      ) : (
        <p role="alert">{failureText(failure)}</p>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          location.hash = `token=${encodeURIComponent(token.trim())}`
          location.reload()
        }}
      >
        <label>
          Token
          <input
            type="password"
            autocomplete="off"
            required
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary">
          Open
        </button>
      </form>
    </main>
  )
}
