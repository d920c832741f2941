/** Which sessions are worked on, by whom, and when. */
export { Scheduler, schedulerLayer } from "./scheduler.ts"
export { LostProcesses, settle } from "./settle.ts"
