// One clear line instead of a stack trace when this Node is too old. Plain JavaScript, because it must run on any Node.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major < 24 || (major === 24 && minor < 15)) {
  process.stderr.write(
    `ERROR [NODE_TOO_OLD]: Node ${process.versions.node} cannot run Meridian, which needs 24.15 or newer. Next: run "npm ci" (it brings Node 26 for npm run) or install a newer Node.\n`,
  )
  process.exit(2)
}
