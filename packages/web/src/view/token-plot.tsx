import { useEffect, useRef, useState } from "preact/hooks"
import Plot from "uplot"

import { tokensText } from "../domain/text.ts"
import type { TokenSeries } from "../domain/token-series.ts"
import { useApp } from "../state/app.ts"

const HEIGHT = 150
const PHONE_HEIGHT = 96
const isPhone = (): boolean => matchMedia("(max-width: 46rem)").matches
const heightNow = (): number => (isPhone() ? PHONE_HEIGHT : HEIGHT)

/** The tokens of each request and the context window. The same is given in words for people who cannot see it. */
export const TokenPlot = (props: {
  readonly series: TokenSeries
  readonly onCompaction: (id: string) => void
}) => {
  const { series } = props
  const { theme } = useApp()
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<Plot>(undefined)
  const latest = useRef(props)
  latest.current = props
  const [isDark, setIsDark] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches)
  const [isFolded, setIsFolded] = useState(() => {
    // A phone has no room for it beside the timeline. The user may still unfold it.
    const chosen = localStorage.getItem(FOLDED_KEY)
    return chosen === null ? isPhone() : chosen === "yes"
  })
  const isTold = tellsSomething(series)
  const hasPoints = isTold && !isFolded

  useEffect(() => {
    const query = matchMedia("(prefers-color-scheme: dark)")
    const change = (): void => setIsDark(query.matches)
    query.addEventListener("change", change)
    return () => query.removeEventListener("change", change)
  }, [])

  useEffect(() => {
    const element = place.current
    if (element === null || !hasPoints) return
    const made = draw(element, latest)
    plot.current = made
    const observer = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height: heightNow() }),
    )
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
      plot.current = undefined
    }
  }, [hasPoints, isDark, theme.value])

  useEffect(() => plot.current?.setData(dataOf(series)), [series])

  if (!isTold) return null
  const fold = (): void => {
    localStorage.setItem(FOLDED_KEY, isFolded ? "no" : "yes")
    setIsFolded(!isFolded)
  }
  return (
    <figure class="plot">
      {isFolded ? null : <div ref={place} aria-hidden="true" />}
      <figcaption>
        {caption(series)}
        <button type="button" class="quiet" aria-expanded={!isFolded} onClick={fold}>
          {isFolded ? "Show the plot" : "Fold the plot"}
        </button>
      </figcaption>
    </figure>
  )
}

const FOLDED_KEY = "meridian.plot-folded"
/** Below this share of the window the line would lie on the ground and say nothing. */
const LEAST_SHARE = 0.05

const tellsSomething = ({ turns, last, compactions }: TokenSeries): boolean =>
  compactions.length > 0 ||
  (turns.length > 1 &&
    last !== undefined &&
    (last.window === null || last.tokens >= last.window * LEAST_SHARE))

const caption = ({ last, compactions }: TokenSeries): string => {
  if (last === undefined) return ""
  const share =
    last.window === null ? "" : ` of ${tokensText(last.window)} (${percent(last.tokens, last.window)})`
  const count = compactions.length
  return `Context: ${tokensText(last.tokens)} tokens${share}, ${count} ${count === 1 ? "compaction" : "compactions"}`
}

const percent = (part: number, whole: number): string => `${Math.round((part / whole) * 100)} %`

/** With room on both sides, so that the window is a line from the first turn on. */
const dataOf = ({ turns, tokens, window }: TokenSeries): Plot.AlignedData => [
  [(turns[0] ?? 1) - 0.5, ...turns, (turns.at(-1) ?? 1) + 0.5],
  [null, ...tokens, null],
  [window[0] ?? null, ...window, window.at(-1) ?? null],
]

const draw = (
  element: HTMLElement,
  latest: { readonly current: { readonly series: TokenSeries; readonly onCompaction: (id: string) => void } },
): Plot => {
  const style = getComputedStyle(document.documentElement)
  const color = (name: string): string => style.getPropertyValue(name).trim()
  const axis = {
    stroke: color("--faint"),
    grid: { stroke: color("--line"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui",
  }
  return new Plot(
    {
      width: element.clientWidth,
      height: heightNow(),
      padding: [8, 12, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: (_plot, low, high) => [low, high] },
        y: { range: (_plot, _low, high) => [0, Math.max(10, high * 1.05)] },
      },
      axes: [
        { ...axis, size: 26, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000] },
        { ...axis, size: 46, values: (_plot, values) => values.map(tokensText) },
      ],
      series: [
        {},
        {
          stroke: color("--accent"),
          width: 2,
          fill: color("--accent-soft"),
          points: { size: 5, fill: color("--accent") },
        },
        { stroke: color("--danger"), width: 1.5, dash: [6, 4], points: { show: false } },
      ],
      hooks: {
        draw: [
          (plot) => {
            const { ctx, bbox } = plot
            ctx.save()
            ctx.strokeStyle = color("--compaction")
            ctx.lineWidth = 2
            for (const { turn } of latest.current.series.compactions) {
              const x = plot.valToPos(turn, "x", true)
              ctx.beginPath()
              ctx.moveTo(x, bbox.top)
              ctx.lineTo(x, bbox.top + bbox.height)
              ctx.stroke()
            }
            ctx.restore()
          },
        ],
        ready: [
          (plot) =>
            plot.over.addEventListener("click", (event) => {
              const found = latest.current.series.compactions.find(
                ({ turn }) => Math.abs(plot.valToPos(turn, "x") - event.offsetX) < 8,
              )
              if (found !== undefined) latest.current.onCompaction(found.compactionID)
            }),
        ],
      },
    },
    dataOf(latest.current.series),
    element,
  )
}
