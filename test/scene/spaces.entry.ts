/**
 * Runs one operation of spaces as a process: `spaces.entry.ts <operation> <values as JSON>`, or `run worker LOG`. Prints its
 * document. It may kill itself on the way: `crash-steps.ts`.
 */
import { installCrash } from "./crash-steps.ts"
import { openSignals, callOperation } from "./spaces.ts"

// oxlint-disable-next-line node/no-process-env -- a program of its own: this is where its environment comes in
const { env } = process
const [name = "", second = "{}", third = ""] = process.argv.slice(2)
const isWorker = name === "run" && second === "worker"

if ((env["CRASH_IN"] ?? "main") === (isWorker ? "worker" : "main")) installCrash(env)

const signals = openSignals()
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => signals.send(signal))

try {
  const values: unknown = isWorker ? { log: third } : JSON.parse(second)
  const answer = await callOperation({
    name: isWorker ? "run.worker" : name,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- decodeInput checks it
    values: values as Readonly<Record<string, unknown>>,
    world: {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an environment has no undefined values in practice
      env: env as Readonly<Record<string, string>>,
      cwd: process.cwd(),
      program: [process.execPath, ...process.execArgv, process.argv[1] ?? ""],
    },
    options: { signals },
  })
  process.stdout.write(`${JSON.stringify(answer.document)}\n`)
  process.exitCode = answer.exitCode
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  process.exitCode = 99
}
