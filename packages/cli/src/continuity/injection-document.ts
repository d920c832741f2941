/** An injection as the JSON of the command shows it. */
import type { Injection } from "@meridian/continuity"

export const injectionDocument = ({ at, host, session, directory, request, tokens, ...more }: Injection) => ({
  at,
  host,
  session,
  directory,
  request,
  tokens,
  texts: more.texts,
  ...(more.ms === undefined ? {} : { ms: more.ms }),
  ...(more.invented === undefined || more.invented.length === 0 ? {} : { invented: more.invented }),
  ...(more.warnings === undefined || more.warnings.length === 0 ? {} : { warnings: more.warnings }),
})
