/** Asks an address through the proxy that the environment names. Prints the answer or the failure. */
import { toModelFailure } from "../../packages/engine/src/model/failure.ts"
import { openHttp } from "../../packages/engine/src/model/http-fetch.ts"

const ask = async (address: string): Promise<string> => {
  const response = await openHttp()()(address, { method: "POST", body: "{}" })
  const reader = response.body?.getReader()
  let text = ""
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    if (done) return text
    text += Buffer.from(value).toString()
  }
}

process.stdout.write(
  await ask(process.argv[2] ?? "").catch((cause: unknown) => {
    const { facts } = toModelFailure(cause, { now: 0, secrets: [] })
    return `${facts.kind}: ${facts.message}`
  }),
)
