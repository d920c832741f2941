/** An injection as the JSON of the command shows it. */
import type { ShownInjection } from "./read-injected.ts"

export const injectionDocument = ({
  at,
  host,
  session,
  directory,
  request,
  tokens,
  ...more
}: ShownInjection) => ({
  at,
  host,
  session,
  directory,
  request,
  tokens,
  texts: more.texts,
  ...(more.ms === undefined ? {} : { ms: more.ms }),
  ...(more.invented === undefined || more.invented.length === 0 ? {} : { invented: more.invented }),
  ...(more.receipt === undefined
    ? {}
    : {
        kept: more.receipt.kept.map(told),
        put_back: more.receipt.putBack.map(told),
        lost: more.receipt.lost.map(told),
      }),
  ...(more.warnings === undefined || more.warnings.length === 0 ? {} : { warnings: more.warnings }),
})

const told = ({ kind, text }: { readonly kind: string; readonly text: string }): string => `${kind}: ${text}`
