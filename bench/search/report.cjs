/** Loaded before the command: says on descriptor 3 what the process has used. */
process.on("exit", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  const used = { cpuMs: (userCPUTime + systemCPUTime) / 1_000, memoryMb: maxRSS / 1_024 }
  require("node:fs").writeSync(3, JSON.stringify(used))
})
