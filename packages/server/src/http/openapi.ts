/** The contract as an OpenAPI 3.1 document. Shapes with a title become components. */
import {
  FAILURES,
  isJsonObject,
  jsonSchema,
  type FailureCode,
  type Json,
  type JsonObject,
} from "@meridian/protocol"

import { CHANGES, CONTRACT, EVENTS, LIVE, type Route } from "../contract/contract.ts"

/** Failures that any route can answer before it does anything. */
const EVERYWHERE: readonly FailureCode[] = [
  "INVALID_INPUT",
  "UNAUTHORIZED",
  "HOST_REFUSED",
  "ORIGIN_REFUSED",
  "REQUEST_MALFORMED",
  "REQUEST_TIMEOUT",
  "ADDRESS_TOO_LONG",
  "EXPECTATION_REFUSED",
  "HEADERS_TOO_LARGE",
  "SERVER_BUSY",
  "SERVER_FAILED",
  "ENGINE_CLOSED",
  "DATABASE_BUSY",
  "DATABASE_DAMAGED",
  "DATABASE_UNWRITABLE",
  "DATABASE_MOVED",
]
const WITH_BODY: readonly FailureCode[] = ["BODY_TOO_LARGE", "MEDIA_TYPE_REFUSED"]

export const openApiDocument = (version: string): JsonObject => {
  const components: Record<string, Json> = { Failure: FAILURE_SHAPE }
  const paths: Record<string, Record<string, Json>> = {}
  const add = (id: string, route: Route, ok: JsonObject): void => {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}")
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(id, route, ok, components) }
  }
  for (const [group, routes] of Object.entries(CONTRACT))
    for (const [name, route] of Object.entries<Route>(routes))
      add(`${group}.${name}`, route, jsonAnswer(route))
  add("sessions.events", EVENTS, streamAnswer(EVENT_FRAMES))
  add("sessions.ownLive", LIVE, streamAnswer(LIVE_FRAMES))
  add("sessions.changes", CHANGES, streamAnswer(CHANGE_FRAMES))
  return {
    openapi: "3.1.0",
    info: { title: "Meridian", version, description: DESCRIPTION },
    paths,
    components: {
      schemas: components,
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
    },
    security: [{ token: [] }],
  }
}

const DESCRIPTION =
  "Durable agent sessions, and the spaces, chats and runs of the meridian command. Every failure is { error: { code, message, next } } with a code of the one catalogue."

const FAILURE_SHAPE: JsonObject = {
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: {
        code: { type: "string", enum: Object.keys(FAILURES) },
        message: { type: "string" },
        next: { type: "string" },
      },
      required: ["code", "message", "next"],
    },
  },
  required: ["error"],
}

const jsonAnswer = (route: Route): JsonObject =>
  route.answer === undefined
    ? { "204": { description: "Done." } }
    : {
        "200": {
          description: "The answer.",
          content: { "application/json": { schema: jsonSchema(route.answer) } },
        },
      }

const EVENT_FRAMES =
  "Frames with an id are durable events. Named frames have none: synced (the replay ended), live (a fragment), dropped (fragments missed), closed (why the stream ends, and the cursor to continue from). Comments are heartbeats."
const LIVE_FRAMES =
  "A frame `live` for each fragment, `dropped` for fragments missed. `closed` says why the stream ends. Comments are heartbeats."
const CHANGE_FRAMES =
  "A frame `changed` at once and whenever sessions have new events: { sessions, elsewhere }. `closed` says why the stream ends. Comments are heartbeats."

const streamAnswer = (description: string): JsonObject => ({
  "200": { description, content: { "text/event-stream": { schema: { type: "string" } } } },
})

const operation = (
  id: string,
  route: Route,
  ok: JsonObject,
  components: Record<string, Json>,
): JsonObject => {
  const { properties, required } = splitInput(route)
  const inPath = Object.entries(properties).filter(([name]) => route.path.includes(`:${name}`))
  const rest = Object.entries(properties).filter(([name]) => !route.path.includes(`:${name}`))
  const query = route.method === "POST" ? [] : rest
  const parameters: Json[] = [
    ...inPath.map(([name, schema]) => ({ name, in: "path", required: true, schema })),
    ...query.map(([name, schema]) => ({ name, in: "query", required: required.includes(name), schema })),
    ...(route.path === EVENTS.path
      ? [{ name: "Last-Event-ID", in: "header", schema: { type: "integer" } }]
      : []),
  ]
  const needed = rest.map(([name]) => name).filter((name) => required.includes(name))
  const body = {
    required: needed.length > 0,
    content: {
      "application/json": {
        schema: {
          type: "object",
          properties: Object.fromEntries(rest),
          required: needed,
          additionalProperties: false,
        },
      },
    },
  }
  return {
    operationId: id,
    tags: [id.split(".")[0] ?? ""],
    summary: route.summary,
    ...(route.open === true ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters: extract(parameters, components) }),
    ...(route.method === "POST" && rest.length > 0 ? { requestBody: extract(body, components) } : {}),
    responses: { ...extractAll(ok, components), ...failureAnswers(route) },
  }
}

const failureAnswers = (route: Route): JsonObject => {
  const codes = [
    ...(route.failures ?? []),
    ...EVERYWHERE.filter((code) => route.open !== true || code !== "UNAUTHORIZED"),
    ...(route.method === "POST" ? WITH_BODY : []),
  ]
  const byStatus = Map.groupBy(new Set(codes), (code) => FAILURES[code].http)
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      String(status),
      {
        description: group.join(", "),
        content: { "application/json": { schema: { $ref: "#/components/schemas/Failure" } } },
      },
    ]),
  )
}

const splitInput = (route: Route) => {
  const { properties, required } = jsonSchema(route.input)
  return {
    properties: isJsonObject(properties) ? properties : {},
    required: Array.isArray(required) ? required.map(String) : [],
  }
}

/** Replaces every shape with a title by a reference to the component of that name. */
const extract = (value: Json, components: Record<string, Json>): Json => {
  if (Array.isArray(value)) return value.map((item: Json) => extract(item, components))
  if (!isJsonObject(value)) return value
  const { title, ...rest } = value
  // A property may also be called title. Only a text is the name of a shape.
  if (typeof title !== "string") return extractAll(value, components)
  components[title] = extractAll(rest, components)
  return { $ref: `#/components/schemas/${title}` }
}

const extractAll = (values: JsonObject, components: Record<string, Json>): JsonObject =>
  Object.fromEntries(Object.entries(values).map(([key, item]) => [key, extract(item, components)]))
