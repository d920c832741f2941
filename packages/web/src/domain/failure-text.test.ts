import { expect, test } from "vitest"

import { failureText } from "./failure-text.ts"

test("a failure is two sentences", () => {
  const failure = { code: "OFFLINE", message: "The server does not answer.", next: "check that it runs." }
  expect(failureText(failure)).toBe("The server does not answer. Check that it runs.")
})

test("a wrong token tells a person what to open, not which header to send", () => {
  const failure = { code: "UNAUTHORIZED", message: "The request carries no valid token.", next: "send it." }
  expect(failureText(failure)).toMatch(/^This token is not valid\. Open the address/)
})
