/** The page in Debian's chromium, over a real server with a scripted model. */
import { existsSync, mkdirSync } from "node:fs"
import { fileURLToPath } from "node:url"

import type { PermissionRule } from "@meridian/engine"
import type { ServeHttpOptions } from "@meridian/server"
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core"

import { ALLOW_ALL, scriptedModel, type Answer } from "../engine-scene.ts"
import { openHttpScene, type HttpScene } from "../http-scene.ts"

export interface PageScene extends AsyncDisposable {
  readonly http: HttpScene
  readonly page: Page
  /** The browser's complaints: errors of scripts, of the console and of the content security policy. */
  readonly complaints: readonly string[]
  /** Every address requested. */
  readonly asked: readonly string[]
  readonly screenshot: (name: string) => Promise<void>
}

const OUTPUT = fileURLToPath(new URL("../.output/", import.meta.url))
export const PAGE_DIRECTORY = fileURLToPath(new URL("../../packages/web/dist/", import.meta.url))

export const openBrowser = async (): Promise<Browser> => {
  // oxlint-disable-next-line node/no-process-env -- where the browser is on this machine
  const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium"
  if (!existsSync(executablePath))
    throw new Error(`${executablePath} is missing: run tools/install-chromium.sh, or name yours in CHROMIUM`)
  return await chromium.launch({
    executablePath,
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  })
}

export const openPageScene = async (
  browser: Browser,
  options: {
    readonly answers?: readonly Answer[]
    readonly permissions?: readonly PermissionRule[]
    readonly context?: BrowserContextOptions
    /** Runs before the page opens. */
    readonly prepare?: (http: HttpScene) => Promise<void>
    readonly fragment?: string
    readonly hostCompactions?: NonNullable<ServeHttpOptions["hostCompactions"]>
    /** The world of another project than the scene's. */
    readonly world?: ServeHttpOptions["world"]
  } = {},
): Promise<PageScene> => {
  const http = await openHttpScene([], {
    pageDirectory: PAGE_DIRECTORY,
    ...(options.hostCompactions === undefined ? {} : { hostCompactions: options.hostCompactions }),
    ...(options.world === undefined ? {} : { world: options.world }),
    engine: {
      models: [scriptedModel(options.answers ?? [], [], { price: { input: 3, output: 15 } })],
      permissions: options.permissions ?? ALLOW_ALL,
    },
  })
  await options.prepare?.(http)
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options.context })
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  const complaints: string[] = []
  const asked: string[] = []
  page.on("pageerror", (error) => void complaints.push(error.message))
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text())
  })
  page.on("request", (request) => void asked.push(request.url()))
  await page.goto(`${http.server.pageUrl}${options.fragment ?? ""}`)
  mkdirSync(OUTPUT, { recursive: true })
  return {
    http,
    page,
    complaints,
    asked,
    screenshot: async (name) => {
      await page.screenshot({ path: `${OUTPUT}page-${name}.png` })
    },
    [Symbol.asyncDispose]: async () => {
      await context.close()
      await http[Symbol.asyncDispose]()
    },
  }
}
