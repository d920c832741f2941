/** The client states its types without the engine, so that the page can load it. Here the two are compared. */
import type * as Engine from "@meridian/engine"
import type * as Client from "@meridian/server/client"
import { expect, expectTypeOf, test } from "vitest"

import { ADDRESSES } from "../../packages/server/src/contract/addresses.ts"
import { CONTRACT } from "../../packages/server/src/contract/contract.ts"

test("what the engine tells is what the client's types say", () => {
  expectTypeOf<Engine.SessionInfo>().toExtend<Client.SessionInfo>()
  expectTypeOf<Client.SessionInfo>().toExtend<Engine.SessionInfo>()
  expectTypeOf<Engine.SessionStatus>().toEqualTypeOf<Client.SessionStatus>()
  expectTypeOf<Engine.OpenPermissionRequest>().toExtend<Client.OpenPermissionRequest>()
  expectTypeOf<Engine.SessionChanges>().toExtend<Client.SessionChanges>()
})

test("the client asks for the routes of the contract, each at its address", () => {
  const told = Object.fromEntries(
    Object.entries(CONTRACT).map(([group, routes]) => [
      group,
      Object.fromEntries(Object.entries(routes).map(([name, { method, path }]) => [name, { method, path }])),
    ]),
  )
  expect(told).toEqual(ADDRESSES)
})
