/** The ledger for those who fold a conversation of their own: pure, so the engine's domain may use it. */
export { ledgerFacts } from "./ledger-facts.ts"
export { EMPTY_LEDGER, type LedgerState } from "./ledger-state.ts"
export { openLedger } from "./ledger.ts"
export type { LedgerPiece } from "./piece.ts"
export { checkQuotes } from "./quotes.ts"
