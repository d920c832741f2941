/** The files in `deploy/` are well formed and fit the command as it is built. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

import { asObject, listAt, objectAt, parseList, textAt, type JsonObject } from "@meridian/protocol"
import { expect } from "vitest"
import { parseAllDocuments } from "yaml"

import { verifies } from "../verifies.ts"
import { meridian } from "./cli-binary.ts"

const FOLDER = join(import.meta.dirname, "../../deploy")
const read = (name: string): string => readFileSync(join(FOLDER, name), "utf8")

/** Resolves anchors and merges; a syntax error throws. */
const documents = (name: string): readonly JsonObject[] =>
  parseList(
    JSON.stringify(
      parseAllDocuments(read(name), { merge: true, strict: true, uniqueKeys: true }).map((document) => {
        expect([name, document.errors, document.warnings]).toEqual([name, [], []])
        return document.toJS() as unknown
      }),
    ),
  ).map((document) => asObject(document) ?? {})

const words = (list: readonly unknown[]): readonly string[] => list.map(String)

const at = (value: JsonObject, ...path: readonly string[]): JsonObject =>
  path.reduce<JsonObject>((found, name) => objectAt(found, name) ?? {}, value)

/** Checks that `serve` knows every flag. Returns how long it drains. */
const checkServe = async (command: readonly string[]): Promise<number> => {
  const { stdout: help } = await meridian(["serve", "--help"])
  expect(command.slice(0, 2)).toEqual(["serve", "--http"])
  // What listens everywhere has to say where the others reach it.
  expect(command[command.indexOf("--advertise") + 1]).toMatch(/^http:\/\/\S+:4747$/)
  for (const flag of command.filter((word) => word.startsWith("--"))) expect(help).toContain(flag)
  return Number(command[command.indexOf("--drain") + 1])
}

const seconds = (text: string): number => Number(/^(\d+)s?$/.exec(text)?.[1])

verifies(
  "cluster.deploy",
  async () => {
    const [compose = {}] = documents("compose.yaml")
    const services = at(compose, "services")
    const nodes = ["node1", "node2", "node3"].map((name) => at(services, name))
    for (const node of nodes) {
      expect(words(listAt(node, "command"))).toContain(`http://${textAt(node, "hostname")}:4747`)
      const drain = await checkServe(words(listAt(node, "command")))
      expect(seconds(textAt(node, "stop_grace_period") ?? "")).toBeGreaterThan(drain)
      expect(textAt(node, "stop_signal")).toBe("SIGTERM")
      expect(JSON.stringify(at(node, "healthcheck"))).toContain("/health/ready")
      expect(textAt(at(node, "environment"), "MERIDIAN_DATABASE")).toMatch(
        /^postgres:\/\/meridian@database\//,
      )
    }
    const named = Object.keys(at(compose, "volumes"))
    for (const service of Object.values(services).map((each) => asObject(each) ?? {}))
      for (const volume of words(listAt(service, "volumes"))) expect(named).toContain(volume.split(":")[0])
    const built = textAt(at(nodes[0] ?? {}, "build"), "dockerfile") ?? ""
    expect(existsSync(join(FOLDER, built))).toBe(true)
    expect(read(built)).toMatch(/^ENTRYPOINT \[.*"meridian"\]$/m)
    expect(JSON.stringify(compose)).not.toMatch(/password=|:[^/@"]+@database/)
  },
  "compose",
)

verifies(
  "cluster.deploy",
  async () => {
    const lines = read("meridian.service").split("\n")
    const value = (key: string): string =>
      lines.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1) ?? ""
    expect(lines.filter((line) => !/^(?:#.*|\[\w+\]|[A-Z]\w*=.*|)$/.test(line))).toEqual([])
    expect(lines.filter((line) => line.startsWith("["))).toEqual(["[Unit]", "[Service]", "[Install]"])
    const [, program, ...command] = value("ExecStart").split(" ")
    expect(program).toBe("meridian")
    expect(Number(value("TimeoutStopSec"))).toBeGreaterThan(await checkServe(command))
    expect([value("KillSignal"), value("KillMode")]).toEqual(["SIGTERM", "mixed"])
    expect(value("EnvironmentFile")).toMatch(/^\//)
  },
  "systemd",
)

verifies(
  "cluster.deploy",
  async () => {
    const all = documents("kubernetes.yaml")
    for (const document of all)
      expect([
        textAt(document, "apiVersion"),
        textAt(document, "kind"),
        textAt(at(document, "metadata"), "name"),
      ]).toEqual([
        expect.stringMatching(/^(?:v1|apps\/v1|policy\/v1)$/),
        expect.stringMatching(/^[A-Z]/),
        expect.stringMatching(/^[a-z-]+$/),
      ])
    const find = (kind: string): readonly JsonObject[] =>
      all.filter((document) => textAt(document, "kind") === kind)
    const [set = {}] = find("StatefulSet")
    const template = at(set, "spec", "template")
    const labels = at(template, "metadata", "labels")
    expect(at(set, "spec", "selector", "matchLabels")).toEqual(labels)
    for (const service of find("Service")) expect(at(service, "spec", "selector")).toEqual(labels)
    expect(find("Service").map((service) => textAt(at(service, "metadata"), "name"))).toContain(
      textAt(at(set, "spec"), "serviceName"),
    )
    const pod = at(template, "spec")
    const [node = {}] = listAt(pod, "containers").map((each) => asObject(each) ?? {})
    const drain = await checkServe(words(listAt(node, "args")))
    expect(Number(pod["terminationGracePeriodSeconds"])).toBeGreaterThan(drain)
    expect(at(node, "livenessProbe", "httpGet")).toMatchObject({ path: "/health/live", port: "http" })
    expect(at(node, "readinessProbe", "httpGet")).toMatchObject({ path: "/health/ready", port: "http" })
    expect(listAt(node, "ports").map(asObject)[0]).toMatchObject({ name: "http", containerPort: 4747 })
    const [first = {}] = listAt(pod, "initContainers").map((each) => asObject(each) ?? {})
    const migrate = await meridian([...words(listAt(first, "args")), "--help"])
    expect(migrate.stdout).toContain("meridian database migrate")
    const [secret = {}] = find("Secret")
    expect(Object.keys(at(secret, "stringData"))).toEqual(
      expect.arrayContaining(["MERIDIAN_DATABASE", "PGPASSWORD", "MERIDIAN_CLUSTER_TOKEN"]),
    )
    const mounted = listAt(node, "volumeMounts").map((mount) => textAt(asObject(mount), "name"))
    const volumes = listAt(pod, "volumes").map((each) => asObject(each) ?? {})
    expect(volumes.map((volume) => textAt(volume, "name"))).toEqual(mounted)
    expect(find("PersistentVolumeClaim").map((claim) => textAt(at(claim, "metadata"), "name"))).toEqual(
      volumes.map((volume) => textAt(at(volume, "persistentVolumeClaim"), "claimName")),
    )
  },
  "kubernetes",
)
