/**
 * How the page scrolls through a session of 10,000 events, in a real browser (`tools/install-chromium.sh`). Frames are
 * timed while the wheel turns; a frame longer than two frames of a 60 Hz screen is visible stutter. Not part of `npm run
 * bench`, because it needs the browser. `node --conditions=meridian-source bench/page/run.ts`
 */
import { join } from "node:path"

import { isLive, withSession, writeMessages } from "../../test/page/page-data.ts"
import { openBrowser, openPageScene } from "../../test/page/page-scene.ts"
import { percentile } from "../engine/scene.ts"

const EVENTS = 10_000
const WHEELS = 240
const PIXELS = 400
const STUTTER_MS = 1_000 / 30

const browser = await openBrowser()
const scene = await openPageScene(browser, {
  prepare: async (http) => {
    await withSession()(http)
    await http.restart()
    writeMessages(join(http.stateRoot, "engine.sqlite"), EVENTS / 2)
  },
})
const { page } = scene
await page
  .getByRole("link", { name: /Fix the parser/ })
  .first()
  .click()
await isLive(page)
await page.evaluate(
  "frames = []; last = performance.now(); const tick = (now) => { frames.push(now - last); last = now; requestAnimationFrame(tick) }; requestAnimationFrame(tick)",
)
await page.mouse.move(700, 500)
for (let turn = 0; turn < WHEELS; turn += 1) await page.mouse.wheel(0, -PIXELS)
const frames: readonly number[] = await page.evaluate("frames.slice(5)")
const long = frames.filter((ms) => ms > STUTTER_MS).length
process.stdout.write(
  `${EVENTS} events, ${frames.length} frames while scrolling: p50 ${percentile([...frames], 0.5).toFixed(1)} ms, p95 ${percentile([...frames], 0.95).toFixed(1)} ms, p99 ${percentile([...frames], 0.99).toFixed(1)} ms, ${long} longer than ${STUTTER_MS.toFixed(0)} ms\n`,
)
await scene[Symbol.asyncDispose]()
await browser.close()
