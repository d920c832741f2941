/** An OpenTelemetry collector that records what it gets and can misbehave on command. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { gunzipSync } from "node:zlib"

import { onTestFinished } from "vitest"

export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status: { readonly code?: number; readonly message?: string }
  readonly attributes: Readonly<Record<string, unknown>>
}

/** A number is the status it answers with. */
export type Behaviour = "take" | "hang" | "refuse" | "one span at once" | number

export interface FakeCollector {
  readonly url: string
  /** Each span once, as a backend keeps it: the last version counts. */
  readonly spans: () => readonly CollectedSpan[]
  /** Every span sent, repeats included. */
  readonly sent: () => readonly CollectedSpan[]
  readonly metrics: () => readonly string[]
  readonly resources: () => readonly Readonly<Record<string, unknown>>[]
  readonly headers: () => readonly IncomingMessage["headers"][]
  /** Everything sent, as text. */
  readonly text: () => string
  readonly behave: (how: Behaviour) => void
  /** Resolves when the spans fit. */
  readonly until: (fits: (spans: readonly CollectedSpan[]) => boolean) => Promise<void>
}

export const startCollector = async (): Promise<FakeCollector> => {
  const sent: CollectedSpan[] = []
  const metrics: string[] = []
  const resources: Readonly<Record<string, unknown>>[] = []
  const headers: IncomingMessage["headers"][] = []
  const watchers = new Set<() => void>()
  let text = ""
  let how: Behaviour = "take"

  const take = (url: string, body: string): void => {
    text += body
    const document = JSON.parse(body)
    for (const part of document.resourceSpans ?? []) {
      resources.push(attributesOf(part.resource.attributes))
      for (const scope of part.scopeSpans)
        for (const span of scope.spans) sent.push({ ...span, attributes: attributesOf(span.attributes) })
    }
    for (const part of document.resourceMetrics ?? [])
      for (const scope of part.scopeMetrics)
        metrics.push(...scope.metrics.map(({ name }: { name: string }) => name))
    if (!url.endsWith(document.resourceSpans === undefined ? "/v1/metrics" : "/v1/traces"))
      throw new Error(`${url} is not where this belongs`)
    for (const watch of watchers) watch()
  }

  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = []
    request.on("data", (piece: Buffer) => pieces.push(piece))
    request.on("end", () => {
      if (how === "hang") return
      if (how === "refuse") return void request.socket.destroy()
      if (typeof how === "number") return void response.writeHead(how).end("{}")
      const bytes = Buffer.concat(pieces)
      const isZipped = request.headers["content-encoding"] === "gzip"
      const body = (isZipped ? gunzipSync(bytes) : bytes).toString("utf8")
      if (how === "one span at once" && body.split('"spanId"').length > 2)
        return void response.writeHead(413).end()
      headers.push(request.headers)
      take(request.url ?? "", body)
      response.writeHead(200, { "content-type": "application/json" }).end("{}")
    })
  })
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server on a port has such an address
  const { port } = server.address() as AddressInfo
  const spans = (): readonly CollectedSpan[] => [
    ...new Map(sent.map((span) => [`${span.traceId} ${span.spanId}`, span])).values(),
  ]
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    sent: () => sent,
    metrics: () => metrics,
    resources: () => resources,
    headers: () => headers,
    text: () => text,
    behave: (next) => {
      how = next
    },
    until: (fits) =>
      new Promise((settle) => {
        const watch = (): void => {
          if (!fits(spans())) return
          watchers.delete(watch)
          settle()
        }
        watchers.add(watch)
        watch()
      }),
  }
}

const attributesOf = (
  list: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[],
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    list.map(({ key, value }) => {
      const [type = "", inner] = Object.entries(value)[0] ?? []
      return [key, type === "intValue" ? Number(inner) : inner]
    }),
  )

/** Parents that were named and never sent. */
export const orphans = (spans: readonly CollectedSpan[]): readonly string[] => {
  const known = new Set(spans.map(({ traceId, spanId }) => `${traceId} ${spanId}`))
  return spans.flatMap(({ traceId, parentSpanId, name }) =>
    parentSpanId === undefined || known.has(`${traceId} ${parentSpanId}`) ? [] : [name],
  )
}
