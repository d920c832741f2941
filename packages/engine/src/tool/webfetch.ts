/** `webfetch`: one page of the web as text, bounded, never from a private network. */
import { described, objectOf, text } from "@meridian/protocol"

import { plainHtml } from "../domain/plain-html.ts"
import type { FetchedPage } from "../port/fetched-page.ts"
import { machineDeadline } from "../port/machine-time.ts"
import { toolInput } from "../port/tool-input.ts"
import { ToolError, type BuiltinTool, type Tool } from "../port/tool.ts"
import { TOOL_LIMITS } from "./limits.ts"

export interface WebfetchOptions {
  /** Makes one request. Follows no redirect, and refuses private addresses, including those that a name resolves to. */
  readonly fetchPage: (
    url: URL,
    bounds: { readonly bytes: number; readonly timeoutMs: number; readonly signal: AbortSignal },
  ) => Promise<FetchedPage>
}

const INPUT = toolInput(
  objectOf({
    url: described(
      text({ least: 1, most: TOOL_LIMITS.webUrlCharacters }),
      "Address of the page, http or https",
    ),
  }),
)

export const webfetchTool = ({ fetchPage }: WebfetchOptions): Tool => ({
  advertisement: {
    name: "webfetch",
    description:
      `Gets one page of the web and gives its text. At most ${TOOL_LIMITS.webBytes / 1024} KiB are read, in ` +
      `${TOOL_LIMITS.webMs / 1000} s. Addresses inside a private network are refused. A page of another host than the one you ` +
      `named is not followed: you are told its address.`,
    input: INPUT.schema,
  },
  execute: async (raw, scene) => {
    const url = readUrl(INPUT.decode(raw).url)
    await scene.ask({
      action: "webfetch",
      resources: [url.href],
      title: `Fetch ${url.href.slice(0, 200)}`,
      always: [`${url.origin}/*`],
    })
    const page = await follow(url, fetchPage, scene.signal)
    const body = /html/i.test(page.type) ? plainHtml(page.body) : page.body
    const notes = page.cut ? ["(the page is longer; only its beginning was read)"] : []
    if (page.status >= 400)
      throw new ToolError("failed", `${page.at} answered with status ${page.status}: ${body.slice(0, 500)}`)
    return {
      content: [{ type: "text", text: [`${page.at} (${page.type}):`, "", body, ...notes].join("\n") }],
      structured: { url: page.at, status: page.status, type: page.type, cut: page.cut },
    }
  },
})

export const WEBFETCH: BuiltinTool<WebfetchOptions> = {
  name: "webfetch",
  traits: { kind: "fetch", changes: "none" },
  open: webfetchTool,
}

const readUrl = (named: string): URL => {
  const url = URL.parse(named)
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new ToolError(
      "invalid-input",
      `${JSON.stringify(named.slice(0, 200))} is no address of the web (http or https).`,
    )
  if (url.username !== "" || url.password !== "")
    throw new ToolError("invalid-input", "An address with a name and a password in it is refused.")
  url.hash = ""
  return url
}

type Page = Extract<FetchedPage, { readonly kind: "page" }> & { readonly at: string }

const follow = async (
  from: URL,
  fetchPage: WebfetchOptions["fetchPage"],
  signal: AbortSignal,
): Promise<Page> => {
  const late = machineDeadline(TOOL_LIMITS.webMs)
  const bounds = {
    bytes: TOOL_LIMITS.webBytes,
    timeoutMs: TOOL_LIMITS.webMs,
    signal: AbortSignal.any([signal, late]),
  }
  let url = from
  for (let hop = 0; hop <= TOOL_LIMITS.webRedirects; hop += 1) {
    const fetched = await fetchPage(url, bounds)
    if (signal.aborted) throw new ToolError("interrupted", "The call was interrupted.")
    if (fetched.kind === "page") return { ...fetched, at: url.href }
    if (fetched.kind === "failed")
      throw new ToolError(
        late.aborted ? "timeout" : "failed",
        `${url.href} cannot be fetched: ${fetched.why}.`,
      )
    const to = URL.parse(fetched.to, url)
    if (to === null) throw new ToolError("failed", `${url.href} leads to an address that is none.`)
    // The permission covers only this host.
    if (to.host !== from.host || (from.protocol === "https:" && to.protocol !== "https:"))
      throw new ToolError(
        "failed",
        `${url.href} leads to another place: ${to.href}. Fetch that if it is what you want.`,
      )
    url = to
  }
  throw new ToolError("failed", `${from.href} leads from one address to the next without an end.`)
}
