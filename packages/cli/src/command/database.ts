/** `meridian database check|migrate` and `meridian cluster`. */
import { checkDatabase, migrateDatabase, readCluster, type Finding } from "@meridian/engine"
import { oneLine } from "@meridian/protocol"
import { implement } from "@meridian/spaces"

import { findServer } from "../engine-database.ts"
import { CLUSTER, DATABASE_CHECK, DATABASE_MIGRATE } from "./database.meta.ts"

export const databaseCheck = implement(DATABASE_CHECK, {
  run: async ({ database }, { env }) => {
    const findings = await checkDatabase(findServer(database, env))
    return {
      fit: findings.every(({ verdict }) => verdict !== "bad"),
      findings: findings.map(findingDocument),
    }
  },
  exitCode: ({ fit }) => (fit ? 0 : 1),
  text: ({ findings }) =>
    findings
      .map(({ name, verdict, found, next }) =>
        [
          `${verdict.padEnd(8)}${name}: ${oneLine(found)}`,
          ...(next === undefined ? [] : [`        ${next}`]),
        ].join("\n"),
      )
      .join("\n"),
})

const findingDocument = ({ name, verdict, found, next }: Finding) => ({
  name,
  verdict,
  found,
  ...(next === undefined ? {} : { next }),
})

export const databaseMigrate = implement(DATABASE_MIGRATE, {
  run: async ({ database }, { env }) => ({ database: await migrateDatabase(findServer(database, env)) }),
  text: ({ database }) => `up to date: ${database}`,
})

export const cluster = implement(CLUSTER, {
  run: async ({ database }, { env }) => {
    const { nodes, waiting, ...totals } = await readCluster(findServer(database, env))
    return {
      ...totals,
      waiting: waiting.map(({ id, ...session }) => Object.assign({ session_id: id }, session)),
      nodes: nodes.map(({ id, ...node }) => Object.assign({ node_id: id }, node)),
    }
  },
  text: ({ nodes, sessions, working, waiting }) =>
    [
      ...nodes.map(
        (node) =>
          `${standingOf(node)}  ${oneLine(node.host)}  beat ${node.beat}  ${node.working} of ${node.places} sessions  ${placeOf(node)}`,
      ),
      `${sessions} sessions, ${working} at work, ${waiting.length} waiting for a node`,
      ...waiting.map(
        ({ session_id, workspace, reason = "a node can take it" }) =>
          `waiting  ${oneLine(session_id)}  ${oneLine(workspace)}  ${oneLine(reason)}`,
      ),
    ].join("\n"),
})

const standingOf = ({ alive, leaves }: { readonly alive: boolean; readonly leaves: boolean }): string => {
  if (!alive) return "silent "
  return leaves ? "leaving" : "alive  "
}

const placeOf = (node: { readonly workspaces: readonly string[]; readonly address?: string }): string =>
  oneLine([node.workspaces.join(", "), ...(node.address === undefined ? [] : [node.address])].join("  "))
