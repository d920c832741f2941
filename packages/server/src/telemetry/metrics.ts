/**
 * Counters and histograms, kept in this process from its start. They are read on request and written nowhere else. The
 * number of series is bounded: names from outside (a model, a tool) cannot make them grow for ever.
 */
export type Labels = Readonly<Record<string, string>>

export interface Series {
  readonly labels: Labels
  readonly value: number
}

export interface HistogramSeries {
  readonly labels: Labels
  /** How many values fell into each bucket. The last bucket has no upper bound. */
  readonly buckets: readonly number[]
  readonly count: number
  readonly sum: number
}

export interface MetricInfo {
  /** In OpenTelemetry's spelling; Prometheus gets underscores. */
  readonly name: string
  readonly description: string
  readonly unit: string
}

export type Metric =
  | (MetricInfo & { readonly kind: "counter"; readonly series: readonly Series[] })
  | (MetricInfo & { readonly kind: "gauge"; readonly series: readonly Series[] })
  | (MetricInfo & {
      readonly kind: "histogram"
      readonly bounds: readonly number[]
      readonly series: readonly HistogramSeries[]
    })

export interface Counter {
  readonly add: (value: number, labels?: Labels) => void
}

export interface Histogram {
  readonly record: (value: number, labels?: Labels) => void
}

export interface MetricRegistry {
  readonly counter: (info: MetricInfo) => Counter
  /** The current value; undefined when unknown. */
  readonly gauge: (info: MetricInfo, read: () => number | undefined) => void
  readonly histogram: (info: MetricInfo, bounds: readonly number[]) => Histogram
  readonly read: () => readonly Metric[]
}

const MOST_SERIES = 500

export const openMetricRegistry = (): MetricRegistry => {
  const readers: (() => Metric)[] = []

  /** The value for these labels. Beyond the bound all labels share one value. */
  const openSeries = <Value>(make: () => Value) => {
    const all = new Map<string, { readonly labels: Labels; readonly value: Value }>()
    return {
      of: (labels: Labels): Value => {
        const key = JSON.stringify(labels)
        const known = all.get(key)
        if (known !== undefined) return known.value
        if (all.size >= MOST_SERIES && !("other" in labels)) {
          const other = all.get(OTHER)?.value ?? make()
          all.set(OTHER, { labels: { other: "true" }, value: other })
          return other
        }
        const value = make()
        all.set(key, { labels, value })
        return value
      },
      all: () => [...all.values()],
    }
  }

  return {
    counter: (info) => {
      const series = openSeries(() => ({ sum: 0 }))
      readers.push(() => ({
        ...info,
        kind: "counter",
        series: series.all().map(({ labels, value }) => ({ labels, value: value.sum })),
      }))
      return {
        add: (value, labels = {}) => {
          series.of(labels).sum += value
        },
      }
    },
    gauge: (info, read) => {
      readers.push(() => {
        const value = read()
        return { ...info, kind: "gauge", series: value === undefined ? [] : [{ labels: {}, value }] }
      })
    },
    histogram: (info, bounds) => {
      const series = openSeries(() => ({ buckets: bounds.concat(0).map(() => 0), count: 0, sum: 0 }))
      readers.push(() => ({
        ...info,
        kind: "histogram",
        bounds,
        series: series.all().map(({ labels, value: { buckets, count, sum } }) => ({
          labels,
          buckets: [...buckets],
          count,
          sum,
        })),
      }))
      return {
        record: (value, labels = {}) => {
          const kept = series.of(labels)
          const at = bounds.findIndex((bound) => value <= bound)
          const bucket = at === -1 ? bounds.length : at
          kept.buckets[bucket] = (kept.buckets[bucket] ?? 0) + 1
          kept.count += 1
          kept.sum += value
        },
      }
    },
    read: () => readers.map((read) => read()),
  }
}

const OTHER = "other"
