import * as fc from "fast-check"
import { expect, test } from "vitest"

import { hideSecrets, secretsIn } from "./hide-secrets.ts"

const letters = (count: number): string => "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7xC0".repeat(20).slice(0, count)

test.each([
  ["an Anthropic key", `sk-ant-api03-${letters(40)}`],
  ["an OpenAI key", `sk-proj-${letters(48)}`],
  ["a Stripe key", `sk_live_${letters(24)}`],
  ["a GitHub token", `ghp_${letters(36)}`],
  ["a fine-grained GitHub token", `github_pat_${letters(22)}_${letters(59)}`],
  ["a GitLab token", `glpat-${letters(20)}`],
  ["a Slack token", `xoxb-123456789012-${letters(24)}`],
  ["an npm token", `npm_${letters(36)}`],
  ["a Hugging Face token", `hf_${letters(34)}`],
  ["an AWS access key", "AKIAIOSFODNN7EXAMPLE"],
  ["a Google key", `AIza${letters(35)}`],
  ["a JSON web token", `eyJhbGciOiJIUzI1NiJ9.${letters(40)}.${letters(30)}`],
  ["a SendGrid key", `SG.${letters(22)}.${letters(43)}`],
])("%s is hidden wherever it stands", (_, secret) => {
  for (const text of [secret, `the key is ${secret}, keep it`, `{"x":"${secret}"}`, `\n${secret}\n`]) {
    expect(hideSecrets(text)).not.toContain(secret.slice(-12))
    expect(hideSecrets(text)).toMatch(/\[[a-z ]+\]/)
  }
})

test.each([
  ['password = "correct-horse"', 'password = "[secret]"'],
  ["API_KEY: abcdef123456", "API_KEY: [secret]"],
  ["client_secret=abcdef123456&x=1", "client_secret=[secret]"],
  ["Authorization: Bearer abcdefghijklmnop1234", "Authorization: Bearer [token]"],
  ["https://me:hunter2@example.org/x", "https://[credentials]@example.org/x"],
  ["-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nafter", "[private key]\nafter"],
])("%j becomes %j", (text, hidden) => {
  expect(hideSecrets(text)).toBe(hidden)
})

test.each([
  "the token bucket has 5 tokens",
  "password reset is broken",
  "task-1234567890 is done",
  "see https://example.org/a:b@c",
  "sk-short",
  "secret: none",
])("%j stays", (text) => {
  expect(hideSecrets(text)).toBe(text)
})

test("values the environment calls secret are hidden, and only those", () => {
  const known = secretsIn({
    MY_TOKEN: "hunter2hunter2",
    DB_PASSWORD: "s3cr3t-value",
    EDITOR: "vim-vim-vim",
    API_KEY: "short",
  })
  expect(hideSecrets("hunter2hunter2 s3cr3t-value vim-vim-vim short", known)).toBe(
    "[secret] [secret] vim-vim-vim short",
  )
})

test("no text makes it throw, and hiding twice changes nothing", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 400 }), (text) => {
      const once = hideSecrets(text)
      expect(hideSecrets(once)).toBe(once)
    }),
  )
})
