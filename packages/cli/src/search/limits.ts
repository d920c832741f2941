/** Every bound of the search. */
export const SEARCH_LIMITS = {
  /** Bytes of a source that become one row of the index, and are read again for a snippet. */
  windowBytes: 96 * 1024,
  /** Bytes of a file read at once. */
  readBytes: 8 * 1024 * 1024,
  /** A longer line is skipped. */
  lineBytes: 64 * 1024 * 1024,
  /** Characters of one text that are indexed. Of a longer text, its beginning and its end. */
  textHead: 96 * 1024,
  textTail: 32 * 1024,
  /** Bytes of sources between two commits: what a stopped search must do again. */
  commitBytes: 64 * 1024 * 1024,
  words: 32,
  queryCharacters: 1_000,
  results: 100,
  /** Rows of the index asked at once, and how many of them are taken. */
  slice: 2_000,
  candidates: 500,
  /** Parts of sessions that are read to rank them, in total and of one session. */
  read: 60,
  readOfSession: 3,
  /** After this time, older slices are left out. */
  queryMs: 100,
  snippetCharacters: 240,
} as const
