/**
 * The total cost of all reads for one brief, so that a hostile tree costs no more than a large one. Shared by the readers
 * of several roots. Spent by reading, never refunded.
 */
import { READ_LIMITS, type ReadLimits } from "../domain/limits.ts"

export interface ReadBudget {
  readonly limits: ReadLimits
  /** Takes one operation. Returns the reason when none is left. */
  readonly spendOperation: () => string | undefined
  /** Half of the time is over: searching should end, so that what was found can still be read. */
  readonly isHurried: () => boolean
  /** How many of these bytes may be read. They count as read. */
  readonly spendBytes: (wanted: number) => number
}

export interface ReadBudgetOptions {
  readonly limits?: Partial<ReadLimits>
  /** Milliseconds that only go forward. */
  readonly clock?: () => number
}

export const openReadBudget = (options: ReadBudgetOptions = {}): ReadBudget => {
  const limits: ReadLimits = { ...READ_LIMITS, ...options.limits }
  const clock = options.clock ?? (() => performance.now())
  const start = clock()
  let operations = limits.operations
  let bytes = limits.totalBytes
  return {
    limits,
    spendOperation: () => {
      if (operations <= 0) return `more than ${limits.operations} files and folders`
      const patient = limits.operations - operations < limits.patientOperations
      if (!patient && clock() - start > limits.timeMs) return `no time left after ${limits.timeMs} ms`
      operations -= 1
      return undefined
    },
    isHurried: () => clock() - start > limits.timeMs / 2,
    spendBytes: (wanted) => {
      const granted = Math.max(0, Math.min(wanted, bytes))
      bytes -= granted
      return granted
    },
  }
}
