/** The few colours of the conversation. The text must already be plain. Pure. */
export interface Style {
  readonly dim: (text: string) => string
  readonly bold: (text: string) => string
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
  readonly notice: (text: string) => string
  readonly italic: (text: string) => string
  readonly code: (text: string) => string
  readonly link: (text: string) => string
  /** False: each function returns the text unchanged. */
  readonly isStyled: boolean
}

type Environment = Readonly<Record<string, string | undefined>>

/** https://no-color.org: set to anything but the empty text, it turns colours off. */
export const styleFor = (env: Environment): Style =>
  (env["NO_COLOR"] ?? "") !== "" || isDumb(env) ? PLAIN : COLOURED

/** A terminal that can only write one line after the other. */
export const isDumb = (env: Environment): boolean => ["", "dumb"].includes(env["TERM"] ?? "")

const same = (text: string): string => text

const PLAIN: Style = {
  dim: same,
  bold: same,
  good: same,
  bad: same,
  notice: same,
  italic: same,
  code: same,
  link: same,
  isStyled: false,
}

const sgr =
  (on: number, off: number) =>
  (text: string): string =>
    text === "" ? "" : `\u001B[${on}m${text}\u001B[${off}m`

const COLOURED: Style = {
  dim: sgr(2, 22),
  bold: sgr(1, 22),
  good: sgr(32, 39),
  bad: sgr(31, 39),
  notice: sgr(33, 39),
  italic: sgr(3, 23),
  code: sgr(36, 39),
  link: sgr(4, 24),
  isStyled: true,
}
