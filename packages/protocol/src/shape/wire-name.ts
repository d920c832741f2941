/** `runId` -> `run_id`, `sessionID` -> `session_id`: names in files, in the JSON of the command and over MCP. */
export const snakeName = (name: string): string =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
