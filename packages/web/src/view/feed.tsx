import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"

import { createRowHeights } from "../domain/row-heights.ts"
import { rowLabel } from "../domain/row-label.ts"
import type { Row } from "../domain/row.ts"
import type { Timeline } from "../domain/timeline.ts"
import { isAtEnd, visibleRows, type Viewport } from "../domain/visible-rows.ts"
import { RowView } from "./row-view.tsx"

const GUESSED_HEIGHT = 56
/** A scroll this soon after a wheel, touch or scroll-bar event comes from the reader. */
const TOUCH_MS = 500

/**
 * The timeline as an ARIA feed. Only visible rows are in the document (https://www.w3.org/WAI/ARIA/apg/patterns/feed/).
 * Arrow keys, Page Up and Down, Home and End move between rows.
 */
export const Feed = (props: {
  readonly timeline: Timeline
  readonly sessionID: string
  readonly version: number
  readonly onCompaction: (id: string) => void
}) => {
  const { timeline } = props
  const scroller = useRef<HTMLDivElement>(null)
  const [heights] = useState(() => createRowHeights(GUESSED_HEIGHT))
  const [viewport, setViewport] = useState<Viewport>({ scrollTop: 0, height: 600 })
  const [active, setActive] = useState<number>()
  const [, redraw] = useState(0)
  const sticks = useRef(true)
  const lastTop = useRef(0)
  const lastHeight = useRef(0)
  const touched = useRef(-TOUCH_MS)
  const touch = (): void => {
    touched.current = performance.now()
  }
  const wantsFocus = useRef(false)

  const live = timeline.live()
  const count = timeline.rows.length + (live === undefined ? 0 : 1)
  const rowAt = (index: number): Row | undefined => timeline.rows[index] ?? live
  if (count < heights.count()) heights.measure(heights.count() - 1, 0)
  heights.resize(Math.max(count, heights.count()))
  const { from, to } = visibleRows(heights, viewport)
  const drawn = Array.from({ length: Math.max(0, Math.min(to, count) - from) }, (_, place) => from + place)
  // The focused row stays in the document; otherwise the keyboard would lose its place.
  if (active !== undefined && active < count && (active < from || active >= to)) drawn.push(active)

  const look = (): void => {
    const element = scroller.current
    if (element === null) return
    const next = { scrollTop: element.scrollTop, height: element.clientHeight }
    const { scrollHeight } = element
    // A row with a wrongly guessed height moves the end, and the browser moves with it. Only the reader may leave the end.
    const isReader = scrollHeight === lastHeight.current || performance.now() - touched.current < TOUCH_MS
    if (isAtEnd(next, scrollHeight)) sticks.current = true
    else if (isReader && next.scrollTop < lastTop.current) sticks.current = false
    lastTop.current = next.scrollTop
    lastHeight.current = scrollHeight
    setViewport(next)
  }

  useEffect(() => {
    const element = scroller.current
    if (element === null) return
    const observer = new ResizeObserver(() => {
      if (sticks.current) element.scrollTop = element.scrollHeight
      look()
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  // After every drawing: stay at the end, or focus the row chosen with the keyboard.
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    if (sticks.current && element.scrollTop + element.clientHeight < element.scrollHeight - 1)
      element.scrollTop = element.scrollHeight
    if (!wantsFocus.current) return
    const row = element.querySelector<HTMLElement>(`[data-row="${active}"]`)
    if (row === null) return
    wantsFocus.current = false
    row.focus({ preventScroll: true })
  })

  const onMeasured = (index: number, height: number): void => {
    const element = scroller.current
    const top = heights.offsetOf(index)
    const change = heights.measure(index, height)
    if (change === 0 || element === null) return
    // Rows that grow above the viewport must not push away what the reader sees.
    if (!sticks.current && top < element.scrollTop) {
      element.scrollTop += change
      lastTop.current = element.scrollTop
    }
    redraw((times) => times + 1)
  }

  const moveTo = (index: number): void => {
    const element = scroller.current
    if (element === null || count === 0) return
    const target = Math.max(0, Math.min(count - 1, index))
    const top = heights.offsetOf(target)
    const bottom = heights.offsetOf(target + 1)
    if (top < element.scrollTop) element.scrollTop = top
    else if (bottom > element.scrollTop + element.clientHeight)
      element.scrollTop = Math.min(top, bottom - element.clientHeight)
    wantsFocus.current = true
    if (target < count - 1) sticks.current = false
    look()
    setActive(target)
  }

  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isMove(event)) return
    const here = active ?? from
    const page = Math.max(1, to - from - 17)
    const target = {
      ArrowDown: active === undefined ? here : here + 1,
      ArrowUp: here - 1,
      PageDown: here + page,
      PageUp: here - page,
      Home: 0,
      End: count - 1,
    }[event.key]
    if (target === undefined) return
    event.preventDefault()
    moveTo(target)
  }

  return (
    <div
      ref={scroller}
      class="feed"
      role="feed"
      aria-label="Timeline"
      aria-busy={false}
      tabIndex={active === undefined ? 0 : -1}
      onScroll={look}
      onWheel={touch}
      onTouchMove={touch}
      onPointerDown={touch}
      onKeyDown={onKeyDown}
    >
      <div class="feed-rows" style={{ height: `${heights.total()}px` }}>
        {drawn.map((index) => {
          const row = rowAt(index)
          return row === undefined ? null : (
            <Slot
              key={row.key}
              index={index}
              label={rowLabel(row)}
              count={count}
              top={heights.offsetOf(index)}
              isActive={index === active}
              onFocus={setActive}
              onMeasured={onMeasured}
            >
              <RowView row={row} sessionID={props.sessionID} onCompaction={props.onCompaction} />
            </Slot>
          )
        })}
      </div>
      {count === 0 ? <p class="empty">Nothing happened yet.</p> : null}
    </div>
  )
}

/** A key meant for a control inside a row is left to that control. */
const isMove = (event: KeyboardEvent): boolean =>
  !event.ctrlKey &&
  !event.metaKey &&
  !event.altKey &&
  !(
    event.target instanceof HTMLElement &&
    event.target.closest("input, textarea, pre, [role=region]") !== null
  )

const Slot = (props: {
  readonly index: number
  readonly label: string
  readonly count: number
  readonly top: number
  readonly isActive: boolean
  readonly onFocus: (index: number) => void
  readonly onMeasured: (index: number, height: number) => void
  readonly children: preact.ComponentChildren
}) => {
  const { index, onMeasured } = props
  const element = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const node = element.current
    if (node === null) return
    onMeasured(index, node.offsetHeight)
    const observer = new ResizeObserver(() => onMeasured(index, node.offsetHeight))
    observer.observe(node)
    return () => observer.disconnect()
  }, [index])
  return (
    <article
      ref={element}
      class="slot"
      data-row={index}
      style={{ transform: `translateY(${props.top}px)` }}
      tabIndex={props.isActive ? 0 : -1}
      aria-label={props.label}
      aria-posinset={index + 1}
      aria-setsize={props.count}
      onFocus={(event) => {
        if (event.target === element.current) props.onFocus(index)
      }}
    >
      {props.children}
    </article>
  )
}
