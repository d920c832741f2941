/**
 * For monitoring: `/health/live` says that the process runs, `/health/ready` whether it accepts new work. They reveal
 * nothing else, so they need no token. A probe may use any name for the server, so any Host is accepted.
 */
import type { ServerResponse } from "node:http"

import type { Engine } from "@meridian/engine"

import { SAFE_HEADERS } from "./answer.ts"

const LIVE = "/health/live"
const READY = "/health/ready"

export const isHealth = (path: string): boolean => path === LIVE || path === READY

export const answerHealth = (
  response: ServerResponse,
  path: string,
  readiness: Engine["readiness"],
): void => {
  const found = path === LIVE ? { live: true } : readiness()
  const body = JSON.stringify(found)
  const isGood = !("ready" in found) || found.ready
  response
    .writeHead(isGood ? 200 : 503, {
      ...SAFE_HEADERS,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      "cache-control": "no-store",
    })
    .end(body)
}
