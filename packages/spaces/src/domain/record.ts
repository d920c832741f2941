/**
 * Records of the logs: one JSON object a line with its version in `v`. A shape gives the type, the check and the
 * names on disk. This file adds what all records have in common.
 */
import {
  encoder,
  Failure,
  problemText,
  something,
  versionedDecoder,
  type Json,
  type JsonObject,
  type Shape,
  type TypeOf,
} from "@meridian/protocol"

/** The type that code builds a record from. An optional value may also be undefined, which writes nothing. */
export type RecordOf<S> = {
  readonly [Key in keyof TypeOf<S>]: undefined extends TypeOf<S>[Key]
    ? TypeOf<S>[Key] | undefined
    : object extends Pick<TypeOf<S>, Key>
      ? TypeOf<S>[Key] | undefined
      : TypeOf<S>[Key]
}

export type WrittenRecord = Readonly<Record<string, Json | undefined>>

/** Writes `v` and snake_case names. */
export const recordEncoder = <S extends Shape<object>>(
  version: number,
  shape: S,
): ((record: RecordOf<S>) => WrittenRecord) => {
  const encode = encoder(shape, "snake")
  return (record) => ({ v: version, ...encode(record) })
}

export interface RecordVersions<T> {
  /** Reads version 1, and lines from before versions. Undefined if the line says nothing we know. */
  readonly first: (line: JsonObject) => T | undefined
  /** The format written today, if that is no longer version 1. */
  readonly now?: { readonly version: number; readonly shape: Shape<T> }
}

/**
 * Decodes a line of this log. Undefined if it is damaged or says nothing. Throws RECORD_NEWER for a line that a newer
 * Meridian wrote: reading half of it would lose the rest.
 */
export const recordDecoder = <T>({
  first,
  now,
}: RecordVersions<T>): ((line: JsonObject, file: string) => T | undefined) => {
  const decode = versionedDecoder<T>(
    { field: "v", current: now?.version ?? 1, shape: now?.shape ?? NOTHING },
    { names: "snake", unknown: "strip" },
  )
  return (line, file) => {
    const { v = 1, ...record } = line
    if (v === 1) return first(record)
    const decoded = decode(line)
    if (decoded.tag === "value") return decoded.value
    if (decoded.problem.kind !== "version") return undefined
    throw new Failure("RECORD_NEWER", { file, what: problemText(decoded.problem, "A line") })
  }
}

/** Never used: version 1 is read above. */
const NOTHING: Shape<never> = something<never>("nothing", () => false)
