/** Metrics in the format of Prometheus (text format 0.0.4). Pure. */
import type { Labels, Metric } from "./metrics.ts"

export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

export const prometheusText = (metrics: readonly Metric[]): string =>
  metrics.map((metric) => `${linesOf(metric).join("\n")}\n`).join("")

const linesOf = (metric: Metric): readonly string[] => {
  const base = metric.name.replaceAll(/[^A-Za-z0-9_]/g, "_")
  if (metric.kind === "counter") {
    const name = `${base}${metric.unit === "USD" ? "_usd" : ""}_total`
    return [
      ...head(name, metric.description, "counter"),
      ...metric.series.map(({ labels, value }) => `${name}${written(labels)} ${value}`),
    ]
  }
  const name = `${base}${metric.unit === "s" ? "_seconds" : ""}`
  if (metric.kind === "gauge")
    return [
      ...head(name, metric.description, "gauge"),
      ...metric.series.map(({ labels, value }) => `${name}${written(labels)} ${value}`),
    ]
  return [
    ...head(name, metric.description, "histogram"),
    ...metric.series.flatMap(({ labels, buckets, count, sum }) => {
      let below = 0
      const lines = buckets.map((inside, index) => {
        below += inside
        const bound = metric.bounds[index]
        return `${name}_bucket${written({ ...labels, le: bound === undefined ? "+Inf" : String(bound) })} ${below}`
      })
      return [...lines, `${name}_sum${written(labels)} ${sum}`, `${name}_count${written(labels)} ${count}`]
    }),
  ]
}

const head = (name: string, description: string, type: string): readonly string[] => [
  `# HELP ${name} ${description.replaceAll("\\", String.raw`\\`).replaceAll("\n", String.raw`\n`)}`,
  `# TYPE ${name} ${type}`,
]

const written = (labels: Labels): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(value)}"`)
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`
}

const escape = (value: string): string =>
  value
    .replaceAll("\\", String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll("\n", String.raw`\n`)
