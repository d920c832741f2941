/** Which sessions this process works on, and when. */
export { Scheduler, schedulerLayer } from "./scheduler.ts"
export { LostProcesses, settle } from "./settle.ts"
