/** Opens an engine on every database it is given, closes it again, and prints the result. */
import { openEngine } from "@meridian/engine"

const open = async (database: string): Promise<string> => {
  try {
    await (await openEngine({ database, models: [] })).close()
    return "opened"
  } catch (cause) {
    return String(cause)
  }
}

process.on("message", (database: string) => {
  void open(database).then((answer) => process.send?.(answer))
})
process.send?.("ready")
