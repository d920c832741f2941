import { readFileSync } from "node:fs"

import { expect, test } from "vitest"

type Colour = readonly [red: number, green: number, blue: number, alpha: number]

const CSS = readFileSync(new URL("page.css", import.meta.url), "utf8")
const TEXTS = ["text", "soft", "faint", "accent", "good", "danger", "warn", "compaction"]
/** Backgrounds of text. The soft ones are drawn over the surface. */
const GROUNDS = ["page", "surface"]
const SOFT = {
  accent: "accent-soft",
  good: "good-soft",
  danger: "danger-soft",
  warn: "warn-soft",
  compaction: "compaction-soft",
}

/** The colours of the CSS rule that begins with this selector. */
const colours = (selector: string): ReadonlyMap<string, Colour> => {
  const from = CSS.indexOf(`${selector} {`)
  const rule = CSS.slice(from, CSS.indexOf("}", from))
  return new Map(
    [...rule.matchAll(/--([\w-]+): #([0-9a-f]{6})([0-9a-f]{2})?;/g)].map(
      ([, name = "", rgb = "", alpha = "ff"]) => {
        const part = (at: number): number => Number.parseInt(rgb.slice(at, at + 2), 16)
        return [name, [part(0), part(2), part(4), Number.parseInt(alpha, 16) / 255]]
      },
    ),
  )
}

/** https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
const contrast = (one: Colour, other: Colour): number => {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((left, right) => left - right)
  return (lighter + 0.05) / (darker + 0.05)
}

const luminance = ([red, green, blue]: Colour): number => {
  const linear = (value: number): number => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

const over = (top: Colour, below: Colour): Colour => {
  const mix = (at: 0 | 1 | 2): number => top[at] * top[3] + below[at] * (1 - top[3])
  return [mix(0), mix(1), mix(2), 1]
}

const THEMES = [
  ["light", ":root"],
  ["dark of the system", ':root:not([data-theme="light"])'],
  ["dark by choice", ':root[data-theme="dark"]'],
] as const

test.each(THEMES)("every text is readable on its background: %s", (_name, selector) => {
  const palette = colours(selector)
  const colour = (name: string): Colour => palette.get(name) ?? [0, 0, 0, 1]
  const faint = TEXTS.flatMap((text) =>
    GROUNDS.flatMap((ground) => {
      const ratio = contrast(colour(text), colour(ground))
      return ratio >= 4.5 ? [] : [`${text} on ${ground}: ${ratio.toFixed(2)}`]
    }),
  )
  const tinted = Object.entries(SOFT).flatMap(([text, soft]) => {
    const ratio = contrast(colour(text), over(colour(soft), colour("page")))
    return ratio >= 4.5 ? [] : [`${text} on ${soft}: ${ratio.toFixed(2)}`]
  })
  const button = contrast(colour("on-accent"), colour("accent"))
  expect([...faint, ...tinted, ...(button >= 4.5 ? [] : [`on-accent: ${button.toFixed(2)}`])]).toEqual([])
  expect(palette.size).toBeGreaterThanOrEqual(17)
})

test("the two dark themes are the same", () => {
  expect(colours(THEMES[1][1])).toEqual(colours(THEMES[2][1]))
})
