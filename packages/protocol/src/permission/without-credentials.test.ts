import { expect, test } from "vitest"

import { withoutCredentials } from "./without-credentials.ts"

const KEPT = {
  PATH: "/usr/bin",
  PWD: "/project",
  OLDPWD: "/",
  HOME: "/home/me",
  SSH_AUTH_SOCK: "/tmp/agent.1",
  XAUTHORITY: "/home/me/.Xauthority",
  GIT_CONFIG_KEY_0: "core.pager",
  KEYBOARD: "de",
  GNOME_KEYRING_CONTROL: "/run/keyring",
  MERIDIAN_SPACE_ID: "s1",
  NODE_OPTIONS: "--max-old-space-size=4096",
  HTTPS_PROXY: "http://proxy.example:3128",
  MONKEY: "banana",
  EMPTY_TOKEN: "",
}

const SECRET = {
  ANTHROPIC_API_KEY: "anything",
  ANTHROPIC_AUTH_TOKEN: "anything",
  OPENAI_API_KEY: "anything",
  GITHUB_TOKEN: "anything",
  NPM_TOKEN: "anything",
  AWS_ACCESS_KEY_ID: "anything",
  AWS_SECRET_ACCESS_KEY: "anything",
  AWS_SESSION_TOKEN: "anything",
  GOOGLE_APPLICATION_CREDENTIALS: "/home/me/key.json",
  DB_PASSWORD: "anything",
  PGPASSWORD: "anything",
  MY_PAT: "anything",
  npm_config__auth: "anything",
  CLIENT_SECRET_FILE: "anything",
  PLAIN: "ghp_0123456789abcdefghij",
  SESSION: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
  PEM: "-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
  DATABASE_URL: "postgres://me:word@host/db",
  DISGUISED: "the local key is local-key-1234",
}

const keep = (environment: Record<string, string>, names: readonly string[] = []) =>
  withoutCredentials(environment, { secrets: ["local-key-1234"], keep: names })

test.each(Object.entries(KEPT))("%s stays", (name, value) => {
  expect(keep({ [name]: value })).toEqual({ [name]: value })
})

test.each(Object.entries(SECRET))("%s goes", (name, value) => {
  expect(keep({ [name]: value })).toEqual({})
})

test("a variable that the user names stays", () => {
  expect(keep(SECRET, ["NPM_TOKEN", "DISGUISED"])).toEqual({
    NPM_TOKEN: "anything",
    DISGUISED: SECRET.DISGUISED,
  })
})
