/**
 * Sends what the log says to a collector, beside the work. The log is the queue: nothing is held for a collector that hangs
 * or refuses, and the next process sends what a dead one did not. A cursor per collector records how far each session is
 * sent. Anything sent again has the same ids.
 */
import type { Engine, SessionEvent, SessionInfo, SharedStep } from "@meridian/engine"

import type { Cursors } from "./cursors.ts"
import { observeEngine } from "./engine-signals.ts"
import { openMetricFold } from "./fold-metrics.ts"
import { openSpanFold, type SpanFold } from "./fold-spans.ts"
import { openMetricRegistry, type Metric } from "./metrics.ts"
import { metricRequest, traceRequest, type Resource } from "./otlp.ts"
import { postJson, type PostJson, type Sent } from "./post-json.ts"
import type { TelemetrySettings } from "./settings.ts"
import { openSharedSteps } from "./shared-steps.ts"
import type { Span } from "./span.ts"

export interface TelemetryOptions {
  readonly engine: Engine
  /** Undefined: metrics are kept for readers, nothing is sent. */
  readonly settings: TelemetrySettings | undefined
  readonly cursors: Cursors | undefined
  /** Also sends sessions that other processes work on. */
  readonly everySession: boolean
  readonly version: string
  /** Tells this process from others: each counts by itself, and a collector must not take them for one. */
  readonly instance: string
  readonly clock: Clock
  /** Lines for the operator. They never contain what was said in a session. */
  readonly log: (line: string) => void
  readonly post?: PostJson
}

export interface Clock {
  readonly now: () => number
  /** Resolves after the time, or at once when the signal aborts. */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>
}

export interface Telemetry {
  readonly metrics: () => readonly Metric[]
  /** Sends what is left, within a bounded time. The engine must still be open. */
  readonly close: () => Promise<void>
}

/** How long events are gathered before they are sent. */
const GATHER_MS = 1_000
const SPANS_AT_ONCE = 512
const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 300_000
const CLOSE_MS = 3_000
/** When telemetry is switched on, sessions untouched for longer are not sent. */
const CATCH_UP_MS = 7 * 24 * 3_600_000
const CATCH_UP_PAGES = 10
const PAGE = 200

interface Following {
  readonly fold: SpanFold
  seq: number
}

export const startTelemetry = (options: TelemetryOptions): Telemetry => {
  const { engine, settings, cursors, clock, log, post = postJson } = options
  const startedAt = clock.now()
  const registry = openMetricRegistry()
  const metricFold = openMetricFold(registry)
  const steps = openSharedSteps()
  const unobserve = observeEngine(registry, {
    now: clock.now,
    onStep: settings?.traces === undefined ? () => undefined : steps.add,
  })
  const resource: Resource = {
    attributes: {
      "service.instance.id": options.instance,
      ...settings?.resource,
      "service.version": options.version,
    },
    version: options.version,
  }
  const closing = new AbortController()
  const dirty = new Set<string>()
  /** Sessions whose process is gone. What it left open is over. */
  const abandoned = new Set<string>()
  const following = new Map<string, Following>()
  const counted = new Map<string, number>()
  let wake = Promise.withResolvers<void>()
  let waitMs = 0
  let told = ""

  const mark = (session: string): void => {
    dirty.add(session)
    wake.resolve()
  }

  const tellOnce = (line: string): void => {
    if (line !== told) log(line)
    told = line
  }

  /** Reads part of what is new in a session, and says whether that was all. */
  const read = async (
    session: string,
  ): Promise<{ readonly spans: readonly Span[]; readonly isAll: boolean }> => {
    const known = following.get(session) ?? {
      fold: openSpanFold({ session, content: settings?.content ?? false }),
      seq: cursors?.of(session) ?? counted.get(session) ?? 0,
    }
    following.set(session, known)
    const spans: Span[] = []
    for await (const event of engine.sessions.events({ sessionID: session, after: known.seq })) {
      if (event.type === "synced") continue
      known.seq = event.seq
      if (event.time >= startedAt && event.seq > (counted.get(session) ?? 0)) metricFold.event(session, event)
      counted.set(session, Math.max(event.seq, counted.get(session) ?? 0))
      if (settings?.traces === undefined) continue
      spans.push(...spansOf(known.fold, event, steps.take(session, event.seq)))
      if (spans.length >= SPANS_AT_ONCE) return { spans, isAll: false }
    }
    if (abandoned.has(session)) spans.push(...known.fold.close())
    return { spans, isAll: true }
  }

  const sendSpans = async (spans: readonly Span[], signal: AbortSignal): Promise<Sent> => {
    if (spans.length === 0 || settings?.traces === undefined) return { tag: "taken" }
    const { traces, timeoutMs } = settings
    const sent = await post(traces, traceRequest(spans, resource), { timeoutMs, signal })
    if (sent.tag !== "refused" || !sent.isTooMuch || spans.length === 1) return sent
    const half = Math.ceil(spans.length / 2)
    const first = await sendSpans(spans.slice(0, half), signal)
    if (first.tag === "later") return first
    const second = await sendSpans(spans.slice(half), signal)
    return second.tag === "taken" ? first : second
  }

  /** Returns whether there may be more to send at once. */
  const sendSession = async (session: string, signal: AbortSignal): Promise<boolean> => {
    const { spans, isAll } = await read(session)
    const sent = await sendSpans(spans, signal)
    const state = following.get(session)
    if (sent.tag === "later") {
      // Reads again from the cursor when the collector is back.
      following.delete(session)
      tellOnce(`Telemetry is not taken: ${sent.why}. It is tried again; nothing is lost.`)
      waitMs = Math.min(sent.afterMs ?? Math.max(FIRST_WAIT_MS, waitMs * 2), LONGEST_WAIT_MS)
      return false
    }
    if (sent.tag === "refused") tellOnce(`Telemetry was refused and is left out: ${sent.why}.`)
    else if (sent.without !== undefined) tellOnce(`Telemetry is not taken whole: ${sent.without}.`)
    else if (spans.length > 0) told = ""
    waitMs = 0
    if (state !== undefined) {
      cursors?.advance(session, state.fold.settledSeq())
      // Nothing is open in it, so the next fold can begin at the cursor.
      if (isAll && state.fold.settledSeq() === state.seq && settings?.traces !== undefined)
        following.delete(session)
    }
    if (isAll) {
      dirty.delete(session)
      abandoned.delete(session)
    }
    return !isAll
  }

  const sendDirty = async (signal: AbortSignal): Promise<void> => {
    for (const session of dirty) {
      dirty.delete(session)
      try {
        while (await sendSession(session, signal)) signal.throwIfAborted()
        if (waitMs > 0) {
          dirty.add(session)
          return
        }
      } catch (error) {
        if (signal.aborted) return
        // A session that cannot be read must not stop the others. Its events are read again from the cursor.
        following.delete(session)
        tellOnce(
          `Telemetry of ${session} is left out: ${error instanceof Error ? error.message : "unknown"}.`,
        )
      }
    }
  }

  const sendMetrics = async (signal: AbortSignal): Promise<void> => {
    if (settings?.metrics === undefined) return
    const times = { start: startedAt, now: clock.now() }
    const body = metricRequest(registry.read(), resource, times)
    const sent = await post(settings.metrics, body, { timeoutMs: settings.timeoutMs, signal })
    if (sent.tag !== "taken") tellOnce(`Metrics are not taken: ${sent.why}.`)
    else if (sent.without !== undefined) tellOnce(`Metrics are not taken whole: ${sent.without}.`)
  }

  /** Sessions with more events than were sent, left by a dead process or by one without a collector. */
  const catchUp = async (): Promise<void> => {
    if (cursors === undefined || settings?.traces === undefined) return
    let cursor: string | undefined
    for (let page = 0; page < CATCH_UP_PAGES; page += 1) {
      const found = await engine.sessions.list({
        limit: PAGE,
        order: "desc",
        ...(cursor === undefined ? {} : { cursor }),
      })
      for (const session of found.items) if (isDue(session, cursors)) mark(session.id)
      cursor = found.next
      if (cursor === undefined || closing.signal.aborted) return
    }
  }

  const isDue = (session: SessionInfo, sent: Cursors): boolean => {
    const { id, seq, status, time } = session
    const isIdle = status !== "running" && status !== "waiting"
    if (time.updated < startedAt - CATCH_UP_MS || seq <= sent.of(id)) return false
    if (isIdle) abandoned.add(id)
    return isIdle || options.everySession
  }

  const listening = (async () => {
    for await (const { sessions, elsewhere } of engine.sessions.changes({ signal: closing.signal })) {
      for (const session of sessions) {
        abandoned.delete(session)
        mark(session)
      }
      if (elsewhere && options.everySession) await catchUp()
    }
  })().catch(() => undefined)

  const sending = (async () => {
    await catchUp()
    while (!closing.signal.aborted) {
      await Promise.race([wake.promise, aborted(closing.signal)])
      await clock.sleep(Math.max(GATHER_MS, waitMs), closing.signal)
      if (closing.signal.aborted) return
      wake = Promise.withResolvers()
      await sendDirty(closing.signal)
      if (dirty.size > 0) wake.resolve()
    }
  })().catch((error: unknown) => {
    if (!closing.signal.aborted)
      log(`Telemetry has stopped: ${error instanceof Error ? error.message : "unknown"}.`)
  })

  const report = async (everyMs: number): Promise<void> => {
    while (!closing.signal.aborted) {
      await clock.sleep(everyMs, closing.signal)
      if (!closing.signal.aborted) await sendMetrics(closing.signal)
    }
  }
  const reporting =
    settings?.metrics === undefined
      ? Promise.resolve()
      : report(settings.metricEveryMs).catch(() => undefined)

  return {
    metrics: () => registry.read(),
    close: async () => {
      if (closing.signal.aborted) return
      closing.abort()
      await Promise.all([listening, sending, reporting])
      unobserve()
      const late = AbortSignal.timeout(CLOSE_MS)
      for (const session of following.keys()) dirty.add(session)
      for (const session of counted.keys()) dirty.add(session)
      if (settings !== undefined) {
        await sendDirty(late)
        await sendMetrics(late)
      }
      cursors?.close()
    },
  }
}

/** The steps that brought an event belong to the activity that it begins, or that it ends. */
const spansOf = (fold: SpanFold, event: SessionEvent, steps: readonly SharedStep[]): readonly Span[] => {
  const before = steps.flatMap(fold.beside)
  const spans = fold.event(event)
  return [...before, ...spans, ...(before.length === 0 ? steps.flatMap(fold.beside) : [])]
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve(), { once: true })
  })
