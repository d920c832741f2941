import { expect, test } from "vitest"

import { pageTitle } from "./page-title.ts"

const sessions = [{ id: "ses_1", title: "Fix the parser" }, { id: "ses_2" }]

test("a tab is named after what it shows, and a waiting question comes first", () => {
  const title = (route: Parameters<typeof pageTitle>[0]["route"], questions = 0) =>
    pageTitle({ route, sessions, questions })
  expect(title({ place: "sessions" })).toBe("Meridian")
  expect(title({ place: "session", id: "ses_1" }, 2)).toBe("(2) Fix the parser · Meridian")
  expect(title({ place: "session", id: "ses_2" })).toBe("Untitled …ses_2 · Meridian")
  expect(title({ place: "run", spaceID: "s1", id: "r3" })).toBe("Run r3 · Meridian")
})
