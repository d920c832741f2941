/**
 * Records that outlive the program that wrote them. Each states its version. An older record is upgraded when it is read; a
 * newer one is refused with a message, because reading half of it would lose the rest.
 */
import { isJsonObject } from "../json.ts"
import { decoder, type Decoded } from "./decode.ts"
import type { Reading } from "./reading.ts"
import { COUNT, objectOf, type Shape } from "./shape.ts"

export interface Versions<T> {
  /** The version field, such as `v`. The shapes do not list it. */
  readonly field: string
  /** The version of a record without one. If omitted, the field is required. */
  readonly absent?: number
  readonly current: number
  readonly shape: Shape<T>
  /** Version -> how such a record is read today (`upgrade`). */
  readonly older?: Readonly<Record<number, Upgrade<T>>>
}

export type Upgrade<T> = (reading: Reading) => (value: unknown) => Decoded<T>

/** An older form, and its meaning today. */
export const upgrade =
  <Old, T>(shape: Shape<Old>, change: (old: Old) => T): Upgrade<T> =>
  (reading) => {
    const decode = decoder(shape, reading)
    return (value) => {
      const decoded = decode(value)
      return decoded.tag === "value" ? { tag: "value", value: change(decoded.value) } : decoded
    }
  }

export const versionedDecoder = <T>(
  versions: Versions<T>,
  reading: Reading = {},
): ((value: unknown) => Decoded<T>) => {
  const { field, absent, current, older = {} } = versions
  const decodeVersion = decoder(objectOf({ [field]: COUNT }))
  const decoders = new Map([
    ...Object.entries(older).map(([version, make]) => [Number(version), make(reading)] as const),
    [current, decoder(versions.shape, reading)],
  ])
  return (value) => {
    // Only objects have a version. For anything else the shape reports the problem.
    if (!isJsonObject(value)) return decoder(versions.shape, reading)(value)
    const { [field]: given = absent, ...record } = value
    const version = decodeVersion({ [field]: given })
    if (version.tag === "problem") return version
    const found = version.value[field] ?? current
    const decode = decoders.get(found)
    return decode === undefined
      ? { tag: "problem", problem: { path: [], kind: "version", found, known: current } }
      : decode(record)
  }
}
