/** Asks an address through whatever proxy the environment names, and prints what came back. */
import { openHttpFetch } from "../../packages/engine/src/model/http-fetch.ts"

const response = await openHttpFetch()(process.argv[2] ?? "", { method: "POST", body: "{}" })
const reader = response.body?.getReader()
let text = ""
for (;;) {
  const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
  if (done) break
  text += Buffer.from(value).toString()
}
process.stdout.write(text)
