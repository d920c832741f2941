/**
 * Where telemetry goes, from `[telemetry]` and the standard OpenTelemetry variables. A variable for one signal wins over
 * the general one, and both win over the configuration. Pure.
 */
import type { AttributeValue } from "./span.ts"

type Environment = Readonly<Record<string, string | undefined>>

export interface TelemetrySettings {
  /** Undefined: none are sent. */
  readonly traces: Endpoint | undefined
  readonly metrics: Endpoint | undefined
  readonly timeoutMs: number
  readonly metricEveryMs: number
  /** Whether prompts, answers and tool content are sent, too. */
  readonly content: boolean
  readonly resource: Readonly<Record<string, AttributeValue>>
  /** What was requested but is not supported, one sentence each. */
  readonly problems: readonly string[]
}

export interface Endpoint {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

export interface TelemetryConfig {
  readonly otlp?: string | undefined
  readonly content?: boolean | undefined
}

/** Undefined when nothing is to be sent. */
export const readTelemetry = (config: TelemetryConfig, env: Environment): TelemetrySettings | undefined => {
  if (isOn(env["OTEL_SDK_DISABLED"])) return undefined
  const problems: string[] = []
  const endpoint = (kind: "TRACES" | "METRICS", path: string): Endpoint | undefined => {
    const exporter = env[`OTEL_${kind}_EXPORTER`] ?? "otlp"
    if (exporter === "none") return undefined
    const own = env[`OTEL_EXPORTER_OTLP_${kind}_ENDPOINT`]
    const base = env["OTEL_EXPORTER_OTLP_ENDPOINT"] || config.otlp
    const url = own || (base ? `${base.replace(/\/+$/, "")}${path}` : "")
    if (url === "") return undefined
    if (exporter !== "otlp") {
      problems.push(`OTEL_${kind}_EXPORTER=${exporter} is not supported; nothing is sent there.`)
      return undefined
    }
    const protocol = env[`OTEL_EXPORTER_OTLP_${kind}_PROTOCOL`] ?? env["OTEL_EXPORTER_OTLP_PROTOCOL"] ?? ""
    if (protocol === "grpc") {
      problems.push(
        "OTLP over gRPC is not supported; name the HTTP endpoint of the collector (usually port 4318).",
      )
      return undefined
    }
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      problems.push(`The OTLP address ${JSON.stringify(url.slice(0, 200))} is not an http or https address.`)
      return undefined
    }
    return {
      url,
      headers: {
        ...pairsIn(env["OTEL_EXPORTER_OTLP_HEADERS"]),
        ...pairsIn(env[`OTEL_EXPORTER_OTLP_${kind}_HEADERS`]),
      },
    }
  }
  const traces = endpoint("TRACES", "/v1/traces")
  const metrics = endpoint("METRICS", "/v1/metrics")
  if (traces === undefined && metrics === undefined && problems.length === 0) return undefined
  return {
    traces,
    metrics,
    timeoutMs: numberIn(env["OTEL_EXPORTER_OTLP_TIMEOUT"], TIMEOUT_MS),
    metricEveryMs: numberIn(env["OTEL_METRIC_EXPORT_INTERVAL"], METRIC_EVERY_MS),
    content: config.content === true || isOn(env["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"]),
    resource: {
      "service.name": env["OTEL_SERVICE_NAME"] || "meridian",
      ...pairsIn(env["OTEL_RESOURCE_ATTRIBUTES"]),
      ...(env["OTEL_SERVICE_NAME"] ? { "service.name": env["OTEL_SERVICE_NAME"] } : {}),
    },
    problems,
  }
}

const TIMEOUT_MS = 10_000
const METRIC_EVERY_MS = 60_000
const MOST_MS = 600_000

const isOn = (value: string | undefined): boolean =>
  /^(?:true|1|span_only|span_and_event)$/i.test(value ?? "")

const numberIn = (value: string | undefined, otherwise: number): number => {
  const number = Number(value)
  return value === undefined || value === "" || !(number > 0) ? otherwise : Math.min(number, MOST_MS)
}

/** `a=1,b=2`, each percent-encoded. */
const pairsIn = (list: string | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (list ?? "").split(",").flatMap((pair) => {
      const at = pair.indexOf("=")
      const name = at === -1 ? "" : pair.slice(0, at).trim()
      return name === "" ? [] : [[decoded(name), decoded(pair.slice(at + 1).trim())] as const]
    }),
  )

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
