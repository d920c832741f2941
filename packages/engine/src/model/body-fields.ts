/**
 * A provider's own options: fields of its request body for which we have no setting. The AI SDK accepts only options it
 * knows, under its own names. Here they join the body unchanged, so every field of a provider can be set.
 */
import { isJsonObject, type Json, type JsonObject } from "@meridian/protocol"

import { mergeObjects } from "../domain/request-settings.ts"
import type { StreamingModel } from "./compatible-model.ts"
import type { Fetch } from "./http-fetch.ts"

/** The same connection, with these fields added to every body that is JSON text. */
export const withBodyFields = (fetch: Fetch, fields: JsonObject | undefined): Fetch =>
  fields === undefined
    ? fetch
    : (input, init = {}) =>
        fetch(input, typeof init.body === "string" ? { ...init, body: addFields(init.body, fields) } : init)

const addFields = (body: string, fields: JsonObject): string => {
  // oxlint-disable-next-line eslint/no-restricted-properties, typescript/no-unsafe-type-assertion -- what the SDK has just written
  const written = JSON.parse(body) as Json
  return isJsonObject(written) ? JSON.stringify(mergeObjects(written, fields)) : body
}

type Load = (fields: JsonObject | undefined) => Promise<StreamingModel>

/** One model per set of fields in use: usually one, a few where prompts bring their own. */
export const openModelsByFields = (load: Load): Load => {
  const models = new Map<string, Promise<StreamingModel>>()
  return (fields) => {
    const key = fields === undefined ? "" : JSON.stringify(fields)
    const known = models.get(key)
    if (known !== undefined) return known
    const loading = load(fields)
    const [oldest] = models.keys()
    if (models.size >= MOST_MODELS && oldest !== undefined) models.delete(oldest)
    models.set(key, loading)
    return loading
  }
}

const MOST_MODELS = 16
