/** The ledger for programs that fold a conversation themselves. Pure, so the engine's domain may use it. */
export { ledgerFacts } from "./ledger-facts.ts"
export { EMPTY_LEDGER, type LedgerState } from "./ledger-state.ts"
export { openLedger } from "./ledger.ts"
export type { LedgerPiece } from "./piece.ts"
export { checkQuotes } from "./quotes.ts"
