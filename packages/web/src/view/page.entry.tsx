import { render } from "preact"

import { AppContext, createApp, takeToken } from "../state/app.ts"
import { keepTextPlain } from "./plain-document.ts"
import { Shell } from "./shell.tsx"
import { SignIn } from "./sign-in.tsx"

keepTextPlain()
const root = document.getElementById("page")
const token = takeToken()
if (root !== null)
  render(
    token === undefined ? (
      <SignIn />
    ) : (
      <AppContext.Provider value={createApp(token)}>
        <Shell />
      </AppContext.Provider>
    ),
    root,
  )
