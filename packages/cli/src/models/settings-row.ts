/** The five settings of a request, from the words of `config.toml`. */
import { isJsonObject, type RequestSettings } from "@meridian/protocol"
import type { SettingsRow } from "@meridian/spaces"

export const settingsOfRow = (row: SettingsRow): RequestSettings => ({
  ...(row.effort === undefined ? {} : { effort: row.effort }),
  ...(row.temperature === undefined ? {} : { temperature: row.temperature }),
  ...(row.top_p === undefined ? {} : { topP: row.top_p }),
  ...(row.max_output_tokens === undefined ? {} : { maxOutputTokens: row.max_output_tokens }),
  ...(isJsonObject(row.options) ? { options: row.options } : {}),
})
