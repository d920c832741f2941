/** A small project with a bug, some long files, and a test that shows the bug. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export const OBJECTIVE = "make the invoice tests pass without changing the public functions"
export const DECISION = "amounts stay integers of cents"
export const RULE = "never edit files under vendor"
export const TODO = "fix the rounding in src/invoice.js"
export const SESSION = "ses_demo"
/** In tokens. Reading the modules fills it more than once. */
export const WINDOW = 7_200
export const TITLE = "Make the invoice tests pass"
/** What runs while the process is killed. */
export const SLOW_COMMAND = "echo started > check.log; sleep 30; echo ended >> check.log"

export const TASK = `Objective: ${OBJECTIVE}
Decision: ${DECISION}
Rule: ${RULE}

Read the modules first, then fix the rounding and run the tests.`

const MODULES = ["customer", "order", "discount", "tax", "currency", "report", "address", "stock"] as const

/** Long enough that reading them fills a small window more than once. */
const filler = (name: string): string =>
  [
    `/** The ${name} module of a shop that exists only for this demo. */`,
    ...Array.from(
      { length: 80 },
      (_unused, index) =>
        `export const ${name}Rule${index} = (value) => value + ${index} // ${name} rule ${index}`,
    ),
  ].join("\n")

export const createProject = (directory: string): void => {
  mkdirSync(join(directory, "src"), { recursive: true })
  for (const name of MODULES) writeFileSync(join(directory, `src/${name}.js`), filler(name))
  writeFileSync(
    join(directory, "src/invoice.js"),
    `export const total = (lines) => lines.reduce((sum, line) => sum + line.cents * line.count, 0)
export const withTax = (cents, percent) => cents + (cents * percent) / 100
`,
  )
  writeFileSync(
    join(directory, "test.js"),
    `import { total, withTax } from "./src/invoice.js"
const check = (name, actual, expected) => {
  if (actual !== expected) { console.log("FAIL " + name + ": " + actual + " is not " + expected); process.exitCode = 1 }
  else console.log("ok " + name)
}
check("total", total([{ cents: 250, count: 2 }, { cents: 99, count: 1 }]), 599)
check("tax is rounded to cents", withTax(999, 19), 1189)
`,
  )
  writeFileSync(join(directory, "package.json"), '{ "type": "module" }\n')
  writeFileSync(join(directory, "AGENTS.md"), "Run `node test.js` before you say that you are done.\n")
}

/** What the scripted model does, in order. It finds its place in what it is shown, not in a memory. */
export const PLAN: readonly { readonly say: string; readonly tool: string; readonly input: object }[] = [
  {
    say: "I keep a list of the work.",
    tool: "todo",
    input: {
      todos: [
        { content: "read the modules", status: "in_progress" },
        { content: TODO, status: "pending" },
        { content: "run the tests", status: "pending" },
      ],
    },
  },
  ...MODULES.slice(0, 4).map((name) => ({
    say: `I read the ${name} module.`,
    tool: "read",
    input: { path: `src/${name}.js` },
  })),
  {
    say: "I start a slow check of the whole tree.",
    tool: "bash",
    input: { command: SLOW_COMMAND },
  },
  ...MODULES.slice(4).map((name) => ({
    say: `I read the ${name} module.`,
    tool: "read",
    input: { path: `src/${name}.js` },
  })),
  { say: "Now the module with the bug.", tool: "read", input: { path: "src/invoice.js" } },
  {
    say: "I round the tax to whole cents.",
    tool: "edit",
    input: {
      path: "src/invoice.js",
      oldString: "cents + (cents * percent) / 100",
      newString: "cents + Math.round((cents * percent) / 100)",
    },
  },
  { say: "I run the tests.", tool: "bash", input: { command: "node test.js" } },
]
