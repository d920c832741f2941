/** Spans and metrics in the JSON of OTLP/HTTP (opentelemetry-proto 1.7). Pure. */
import type { JsonObject } from "@meridian/protocol"

import type { Labels, Metric } from "./metrics.ts"
import type { AttributeValue, Span } from "./span.ts"

export interface Resource {
  readonly attributes: Readonly<Record<string, AttributeValue>>
  readonly version: string
}

export const traceRequest = (spans: readonly Span[], resource: Resource): JsonObject => ({
  resourceSpans: [
    {
      resource: { attributes: attributesOf(resource.attributes) },
      scopeSpans: [{ scope: scopeOf(resource), spans: spans.map(spanOf) }],
    },
  ],
})

export const metricRequest = (
  metrics: readonly Metric[],
  resource: Resource,
  times: { readonly start: number; readonly now: number },
): JsonObject => ({
  resourceMetrics: [
    {
      resource: { attributes: attributesOf(resource.attributes) },
      scopeMetrics: [{ scope: scopeOf(resource), metrics: metrics.map((metric) => metricOf(metric, times)) }],
    },
  ],
})

const scopeOf = ({ version }: Resource): JsonObject => ({ name: "meridian", version })

const KINDS = { internal: 1, client: 3 } as const
const STATUS_ERROR = 2
const CUMULATIVE = 2

const spanOf = ({ traceId, spanId, parentSpanId, name, kind, start, end, ...span }: Span): JsonObject => ({
  traceId,
  spanId,
  ...(parentSpanId === undefined ? {} : { parentSpanId }),
  name,
  kind: KINDS[kind],
  startTimeUnixNano: nanos(start),
  endTimeUnixNano: nanos(Math.max(start, end)),
  attributes: attributesOf(span.attributes),
  events: (span.events ?? []).map((event) => ({
    name: event.name,
    timeUnixNano: nanos(event.time),
    attributes: attributesOf(event.attributes),
  })),
  status:
    span.error === undefined ? {} : { code: STATUS_ERROR, message: span.error.slice(0, LONGEST_STATUS) },
})

const LONGEST_STATUS = 1_000

const metricOf = (
  metric: Metric,
  { start, now }: { readonly start: number; readonly now: number },
): JsonObject => {
  const { name, description, unit } = metric
  const point = (labels: Labels): JsonObject => ({
    attributes: attributesOf(labels),
    startTimeUnixNano: nanos(start),
    timeUnixNano: nanos(now),
  })
  if (metric.kind === "gauge")
    return {
      name,
      description,
      unit,
      gauge: {
        dataPoints: metric.series.map(({ labels, value }) => ({ ...point(labels), asDouble: value })),
      },
    }
  if (metric.kind === "counter")
    return {
      name,
      description,
      unit,
      sum: {
        aggregationTemporality: CUMULATIVE,
        isMonotonic: true,
        dataPoints: metric.series.map(({ labels, value }) => ({ ...point(labels), asDouble: value })),
      },
    }
  return {
    name,
    description,
    unit,
    histogram: {
      aggregationTemporality: CUMULATIVE,
      dataPoints: metric.series.map(({ labels, buckets, count, sum }) => ({
        ...point(labels),
        count: String(count),
        sum,
        bucketCounts: buckets.map(String),
        explicitBounds: [...metric.bounds],
      })),
    },
  }
}

/** This format writes 64-bit numbers as text. */
const nanos = (milliseconds: number): string => `${Math.floor(milliseconds)}000000`

const attributesOf = (attributes: Readonly<Record<string, AttributeValue>>): JsonObject[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }))

const valueOf = (value: AttributeValue): JsonObject => {
  if (typeof value === "string") return { stringValue: value }
  if (typeof value === "boolean") return { boolValue: value }
  if (typeof value === "number")
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  return { arrayValue: { values: value.map((each) => ({ stringValue: each })) } }
}
