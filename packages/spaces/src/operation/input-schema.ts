/** Fields -> the JSON schema an MCP client sees. */
import type { JsonObject } from "@meridian/protocol"

import { wireName, type Field, type Fields } from "./field.ts"

export const inputSchema = (fields: Fields): JsonObject => {
  const offered = Object.entries(fields).filter(
    ([, field]) => field.only !== "command" && field.hidden !== true,
  )
  const required = offered
    .filter(([, field]) => field.required === true || field.toolRequired === true)
    .map(([key]) => wireName(key))
  return {
    type: "object",
    properties: Object.fromEntries(offered.map(([key, field]) => [wireName(key), propertyOf(field)])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  }
}

const propertyOf = (field: Field): JsonObject => ({
  ...typeOf(field),
  description: field.description,
  ...(field.default === undefined ? {} : { default: field.default }),
})

const typeOf = (field: Field): JsonObject => {
  const offered = field.toolChoices ?? field.choices
  const listed = offered === undefined ? {} : { enum: offered }
  const { openChoice } = field
  const choices = openChoice === undefined ? listed : { anyOf: [listed, { pattern: `^${openChoice}.` }] }
  switch (field.type) {
    case "string":
      return { type: "string", ...choices }
    case "strings":
      return { type: "array", items: { type: "string", ...choices } }
    case "boolean":
      return { type: "boolean" }
    case "seconds":
      return { type: "number", exclusiveMinimum: 0 }
    case "integer":
    case "number":
      return { type: field.type, ...(field.minimum === undefined ? {} : { minimum: field.minimum }) }
  }
}
