/** Every bound of the search. */
export const SEARCH_LIMITS = {
  /** Bytes of a source that become one row of the index, and are read again for a snippet. */
  windowBytes: 96 * 1024,
  /** Bytes of a file read at once. */
  readBytes: 8 * 1024 * 1024,
  /** A line that is longer is passed over. */
  lineBytes: 64 * 1024 * 1024,
  /** Characters of one text that are indexed: of a longer one the beginning and the end. */
  textHead: 96 * 1024,
  textTail: 32 * 1024,
  /** Bytes of sources between two commits: what a stopped search has to do again. */
  commitBytes: 64 * 1024 * 1024,
  words: 32,
  queryCharacters: 1_000,
  results: 100,
  /** Rows of the index asked at once, and of those taken. */
  slice: 2_000,
  candidates: 500,
  /** Parts of sessions that are read to weigh them, of all and of one. */
  read: 60,
  readOfSession: 3,
  /** When this is over, older slices are left out. */
  queryMs: 100,
  snippetCharacters: 240,
} as const
