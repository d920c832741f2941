import { expect, test } from "vitest"

import { fragmentOf, readFragment, type Route } from "./route.ts"

test("every place survives its fragment", () => {
  const places: readonly Route[] = [
    { place: "sessions" },
    { place: "spaces" },
    { place: "session", id: "ses_1" },
    { place: "space", id: "s 1/%" },
    { place: "run", spaceID: "s1", id: "r1" },
  ]
  for (const route of places) expect(readFragment(fragmentOf(route))).toEqual({ route })
})

test("the token is taken from the fragment, with the session if one is named", () => {
  expect(readFragment("#token=a%2Bb")).toEqual({ token: "a+b", route: { place: "sessions" } })
  expect(readFragment("#token=abc&session=ses_1")).toEqual({
    token: "abc",
    route: { place: "session", id: "ses_1" },
  })
})

test("a fragment that means nothing is the list of sessions", () => {
  for (const fragment of ["", "#", "#/nowhere/1", "#token=", "#/session/", "#/%E0%A4%A"])
    expect(readFragment(fragment)).toEqual({ route: { place: "sessions" } })
})
