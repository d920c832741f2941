/**
 * `run spawn --schema FILE`: the JSON Schema of the answer, read before anything begins, and the harnesses that
 * support one.
 */
import { resolve } from "node:path"

import { readWhole } from "@meridian/continuity/files"
import { asObject, Failure, type JsonObject } from "@meridian/protocol"

import { decodeJson } from "../domain/json-line.ts"
import type { Harness } from "../port/harness.ts"
import type { Failover, RunPlan } from "./run-plan.ts"
import { harnessEntry } from "./state.ts"
import type { World } from "./world.ts"

/** The engine's own bound. A schema travels on a command line. */
const LARGEST_BYTES = 65_536

/** Throws SCHEMA_UNREADABLE. */
export const readSchema = (typed: string | undefined, world: Pick<World, "cwd">): JsonObject | undefined => {
  if (typed === undefined) return undefined
  const path = resolve(world.cwd, typed)
  const found = readWhole("/", path, LARGEST_BYTES)
  const refuse = (problem: string): Failure => new Failure("SCHEMA_UNREADABLE", { path, problem })
  if (found.kind === "absent") throw refuse("there is no such file")
  if (found.kind === "refused") throw refuse(found.reason)
  const schema = asObject(decodeJson(found.text))
  if (schema === undefined) throw refuse("it is not a JSON object")
  return schema
}

/** Throws SCHEMA_UNSUPPORTED: an answer in any other form is not what was requested. */
export const requireSchemas = (harness: Harness, schema: JsonObject | undefined): void => {
  if (schema !== undefined && !harness.capabilities.schema)
    throw new Failure("SCHEMA_UNSUPPORTED", { harness: harness.name })
}

/** Only harnesses that support a schema may take over. */
export const failoverWith = async (
  failover: Failover | undefined,
  schema: JsonObject | undefined,
  world: World,
): Promise<Failover | undefined> => {
  if (failover === undefined || schema === undefined) return failover
  const others: Failover["others"][number][] = []
  for (const other of failover.others) {
    const harness = await harnessEntry(world, other.harness)?.load()
    if (harness?.capabilities.schema === true) others.push(withSchema(other, schema))
    else
      world.warn("FAILOVER_UNUSABLE", {
        harness: harness?.name ?? other.harness,
        why: "it cannot be held to a schema",
      })
  }
  const able = new Set(others.map(({ harness }) => harness))
  const left = new Set(failover.others.map(({ harness }) => harness).filter((id) => !able.has(id)))
  return others.length === 0
    ? undefined
    : { ...failover, others, order: failover.order.filter((id) => !left.has(id)) }
}

export const withSchema = <Launched extends Pick<RunPlan, "launch">>(
  plan: Launched,
  schema: JsonObject | undefined,
): Launched => (schema === undefined ? plan : { ...plan, launch: { ...plan.launch, schema } })
