/** The protocol's own JSON schema, for messages from an agent. */
import { readFileSync } from "node:fs"

import { Validator } from "@cfworker/json-schema"

const SCHEMA = JSON.parse(readFileSync("node_modules/@agentclientprotocol/sdk/schema/v1/schema.json", "utf8"))

const validatorOf = (name: string): Validator =>
  new Validator({ $defs: SCHEMA.$defs, $ref: `#/$defs/${name}` }, "2020-12")

const VALIDATORS = {
  "session/update": validatorOf("SessionNotification"),
  "session/request_permission": validatorOf("RequestPermissionRequest"),
  response: validatorOf("AgentResponse"),
} as const

/** What is wrong with one line of an agent's output; empty when nothing is. */
export const complaintAbout = (line: string): readonly string[] => {
  if (line.trim() === "") return []
  const message: unknown = JSON.parse(line)
  const method: unknown = Reflect.get(Object(message), "method")
  if (method === "$/cancel_request") return []
  const [validator, value] =
    method === "session/update" || method === "session/request_permission"
      ? [VALIDATORS[method], Reflect.get(Object(message), "params")]
      : [VALIDATORS.response, message]
  if (method !== undefined && validator === VALIDATORS.response)
    return [`unknown method ${JSON.stringify(method)}`]
  const { valid, errors } = validator.validate(value)
  return valid ? [] : [`${line.slice(0, 300)}: ${errors.map(({ error }) => error).join("; ")}`]
}
