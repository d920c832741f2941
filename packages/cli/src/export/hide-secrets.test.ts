import { expect, test } from "vitest"

import { createRandom } from "../../../../test/sim/random.ts"
import { openHiding } from "./hide-secrets.ts"

const random = createRandom(7)
const of = (alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[random.below(alphabet.length)] ?? "").join("")
const LOWER = "abcdefghijklmnopqrstuvwxyz"
const UPPER = LOWER.toUpperCase()
const DIGITS = "0123456789"
const HEX = "0123456789abcdef"
const WORD = `${LOWER}${UPPER}${DIGITS}`
const UUID = (): string => [8, 4, 4, 4, 12].map((length) => of(HEX, length)).join("-")

/** Made up anew for each run of the test: a kind, one secret of that kind, and the text around it. */
type Case = readonly [kind: string, secret: string, write?: (secret: string) => string]

const SECRETS: readonly Case[] = [
  ["AWS access key", `AKIA${of(UPPER + "234567", 16)}`],
  ["AWS temporary key", `ASIA${of(UPPER + "234567", 16)}`],
  ["AWS secret key", of(WORD + "/+", 40), (secret) => `aws_secret_access_key = ${secret}`],
  ["AWS secret key in JSON", of(WORD + "/+", 40), (secret) => `"SecretAccessKey": "${secret}"`],
  ["AWS session token", of(WORD + "/+", 300), (secret) => `AWS_SESSION_TOKEN=${secret}`],
  ["GitHub personal", `ghp_${of(WORD, 36)}`],
  ["GitHub OAuth", `gho_${of(WORD, 36)}`],
  ["GitHub user", `ghu_${of(WORD, 36)}`],
  ["GitHub server", `ghs_${of(WORD, 36)}`],
  ["GitHub refresh", `ghr_${of(WORD, 76)}`],
  ["GitHub fine-grained", `github_pat_${of(WORD, 22)}_${of(WORD, 59)}`],
  ["GitLab personal", `glpat-${of(WORD, 20)}`],
  ["GitLab runner", `glrt-${of(WORD, 20)}`],
  ["GitLab trigger", `glptt-${of(HEX, 40)}`],
  ["Bitbucket", `ATBB${of(WORD, 32)}`],
  ["Atlassian", `ATATT3xFfGF0${of(WORD, 170)}`],
  ["Anthropic", `sk-ant-api03-${of(WORD, 93)}AA`],
  ["OpenAI project", `sk-proj-${of(WORD, 120)}`],
  ["OpenAI", `sk-${of(WORD, 20)}T3BlbkFJ${of(WORD, 20)}`],
  ["OpenAI service account", `sk-svcacct-${of(WORD, 60)}`],
  ["OpenRouter", `sk-or-v1-${of(HEX, 64)}`],
  ["Google API", `AIza${of(WORD, 35)}`],
  ["Google OAuth", `ya29.${of(WORD, 120)}`],
  ["Google client secret", `GOCSPX-${of(WORD, 28)}`],
  ["Groq", `gsk_${of(WORD, 52)}`],
  ["xAI", `xai-${of(WORD, 80)}`],
  ["Perplexity", `pplx-${of(WORD, 48)}`],
  ["Hugging Face", `hf_${of(WORD, 34)}`],
  ["Replicate", `r8_${of(WORD, 37)}`],
  ["NVIDIA", `nvapi-${of(WORD, 64)}`],
  ["Slack bot", `xoxb-${of(DIGITS, 12)}-${of(DIGITS, 12)}-${of(WORD, 24)}`],
  ["Slack user", `xoxp-${of(DIGITS, 12)}-${of(DIGITS, 12)}-${of(HEX, 32)}`],
  ["Slack app", `xapp-1-A${of(WORD, 10)}-${of(DIGITS, 12)}-${of(HEX, 60)}`],
  ["Slack webhook", `https://hooks.slack.com/services/T${of(UPPER, 8)}/B${of(UPPER, 8)}/${of(WORD, 24)}`],
  ["Discord webhook", `https://discord.com/api/webhooks/${of(DIGITS, 18)}/${of(WORD, 68)}`],
  ["Discord bot", `M${of(WORD, 25)}.${of(WORD, 6)}.${of(WORD, 38)}`],
  ["Telegram", `${of("123456789", 10)}:AA${of(WORD, 33)}`],
  ["Stripe live", `sk_live_${of(WORD, 24)}`],
  ["Stripe restricted", `rk_live_${of(WORD, 99)}`],
  ["Stripe webhook", `whsec_${of(WORD, 32)}`],
  ["Square", `sq0atp-${of(WORD, 22)}`],
  ["Shopify", `shpat_${of(HEX, 32)}`],
  ["Twilio", `SK${of(HEX, 32)}`],
  ["SendGrid", `SG.${of(WORD, 22)}.${of(WORD, 43)}`],
  ["Mailgun", `key-${of(HEX, 32)}`],
  ["Mailchimp", `${of(HEX, 32)}-us12`],
  ["npm", `npm_${of(WORD, 36)}`],
  ["npmrc", UUID(), (secret) => `//registry.example.com/:_authToken=${secret}`],
  ["PyPI", `pypi-AgEIcHlwaS5vcmc${of(WORD, 120)}`],
  ["RubyGems", `rubygems_${of(HEX, 48)}`],
  ["Docker", `dckr_pat_${of(WORD, 27)}`],
  [
    "Docker configuration",
    Buffer.from(`user:${of(WORD, 20)}`).toString("base64"),
    (secret) => `{"auths":{"x":{"auth": "${secret}"}}}`,
  ],
  ["DigitalOcean", `dop_v1_${of(HEX, 64)}`],
  ["Netlify", `nfp_${of(WORD, 40)}`],
  ["Supabase", `sbp_${of(HEX, 40)}`],
  ["PlanetScale", `pscale_tkn_${of(WORD, 43)}`],
  ["Databricks", `dapi${of(HEX, 32)}`],
  ["Pulumi", `pul-${of(HEX, 40)}`],
  ["Terraform", `${of(WORD, 14)}.atlasv1.${of(WORD, 67)}`],
  ["Vault", `hvs.${of(WORD, 90)}`],
  ["Doppler", `dp.pt.${of(WORD, 43)}`],
  ["Tailscale", `tskey-auth-k${of(WORD, 11)}CNTRL-${of(WORD, 32)}`],
  [
    "Azure storage",
    `${of(WORD + "+/", 86)}==`,
    (secret) => `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${secret};EndpointSuffix=x`,
  ],
  ["Azure SAS", of(WORD, 43), (secret) => `https://a.blob.core.windows.net/c?sv=2024&se=1&sig=${secret}%3D`],
  ["New Relic", `NRAK-${of(UPPER + DIGITS, 27)}`],
  ["Sentry", `sntrys_${of(WORD, 100)}`],
  ["Grafana", `glsa_${of(WORD, 32)}_${of(HEX, 8)}`],
  ["Postman", `PMAK-${of(HEX, 24)}-${of(HEX, 34)}`],
  ["Linear", `lin_api_${of(WORD, 40)}`],
  ["Notion", `ntn_${of(DIGITS, 11)}${of(WORD, 35)}`],
  ["Figma", `figd_${of(WORD, 40)}`],
  ["Airtable", `pat${of(WORD, 14)}.${of(HEX, 64)}`],
  ["Buildkite", `bkua_${of(HEX, 40)}`],
  ["SonarQube", `sqp_${of(HEX, 40)}`],
  ["age", `AGE-SECRET-KEY-1${of(UPPER + DIGITS, 58)}`],
  ["WireGuard", `${of(WORD + "+/", 43)}=`, (secret) => `[Interface]\nPrivateKey = ${secret}\n`],
  [
    "RSA key",
    of(WORD + "+/", 64),
    (secret) => `-----BEGIN RSA PRIVATE KEY-----\n${secret}\n${of(WORD, 64)}\n-----END RSA PRIVATE KEY-----`,
  ],
  [
    "OpenSSH key",
    of(WORD + "+/", 70),
    (secret) => `-----BEGIN OPENSSH PRIVATE KEY-----\n${secret}\n-----END OPENSSH PRIVATE KEY-----`,
  ],
  ["key without an end", of(WORD + "+/", 64), (secret) => `-----BEGIN PRIVATE KEY-----\n${secret}\n`],
  ["JWT", `eyJ${of(WORD, 33)}.eyJ${of(WORD, 60)}.${of(WORD, 43)}`],
  ["bearer", of(WORD, 40), (secret) => `curl -H 'Authorization: Bearer ${secret}' https://x`],
  [
    "basic",
    Buffer.from(`me:${of(WORD, 20)}`).toString("base64"),
    (secret) => `Authorization: Basic ${secret}`,
  ],
  ["cookie", `sid=${of(WORD, 30)}`, (secret) => `> Cookie: ${secret}\n`],
  ["database address", of(WORD, 14), (secret) => `postgres://app:${secret}@db.internal:5432/main`],
  ["git address", of(WORD, 30), (secret) => `https://oauth2:${secret}@gitlab.com/a/b.git`],
  ["variable", of(WORD, 24), (secret) => `export DD_API_KEY=${secret}`],
  ["hexadecimal variable", of(HEX, 32), (secret) => `DATADOG_API_KEY=${secret}`],
  ["UUID as a key", UUID(), (secret) => `HEROKU_API_KEY=${secret}`],
  ["YAML", `${of(WORD, 10)}1!`, (secret) => `db:\n  password: "${secret}"\n`],
  ["a password of letters", of(LOWER, 18), (secret) => `password = '${secret}'`],
  ["JSON in JSON", `${of(WORD, 20)}9`, (secret) => String.raw`{\"client_secret\": \"${secret}\"}`],
  ["camel case", `${of(WORD, 20)}9`, (secret) => `const config = { apiKey: "${secret}" }`],
  ["flag", `${of(WORD, 12)}9`, (secret) => `mysql --user me --password ${secret}`],
  ["a token that counts", "ghp_0123456789abcdefghijABCDEFGHIJ012345"],
  ["a key that counts", "sk-proj-abcdefghijklmnopqrstuvwxyz1234567890ABCDEFGH"],
  ["a password that counts", "Abcdefghij1234567890", (secret) => `DB_PASSWORD=${secret}`],
  [
    "cookie of an example's domain",
    `sid=${of(WORD, 30)}; Domain=example.com`,
    (secret) => `Set-Cookie: ${secret}\n`,
  ],
  ["Slack cookie", `xoxd-${of(WORD, 60)}%2B${of(WORD, 40)}`],
  ["Render", `rnd_${of(WORD, 32)}`],
  ["Dropbox", `sl.${of(WORD, 130)}`],
  ["Cerebras", `csk-${of(LOWER + DIGITS, 48)}`],
  ["ElevenLabs", `sk_${of(HEX, 48)}`],
  ["curl's user", `${of(WORD, 14)}9`, (secret) => `curl -s -u admin:${secret} https://x/api`],
  ["MySQL", `${of(WORD, 14)}9`, (secret) => `mysqldump -uroot -p${secret} app`],
  ["sshpass", `${of(WORD, 14)}9`, (secret) => `sshpass -p '${secret}' ssh host`],
  ["docker login", `${of(WORD, 14)}9`, (secret) => `docker login -u me -p ${secret} reg.example.org`],
  ["Redis", `${of(WORD, 14)}9`, (secret) => `redis-cli -h cache -a ${secret} ping`],
  ["netrc", `${of(WORD, 14)}9`, (secret) => `machine api.internal\n  login me\n  password ${secret}\n`],
  ["pgpass", `${of(WORD, 14)}9`, (secret) => `\ndb.internal:5432:app:me:${secret}\n`],
  ["PGPASSWORD", `${of(WORD, 14)}9`, (secret) => `PGPASSWORD=${secret} psql -h db`],
  ["admin key", of(HEX, 32), (secret) => `ALGOLIA_ADMIN_KEY: ${secret}`],
  ["several words", `${of(WORD, 8)}aB9 more words`, (secret) => `{"password": "${secret}"}`],
  ["TypeScript", `${of(WORD, 24)}9`, (secret) => `const apiKey: string = "${secret}"`],
  ["XML", `${of(WORD, 20)}9`, (secret) => `<password>${secret}</password>`],
  ["fish", `${of(WORD, 20)}9`, (secret) => `set -gx API_TOKEN ${secret}`],
  ["csh", `${of(WORD, 20)}9`, (secret) => `setenv API_TOKEN ${secret}`],
  ["painted by grep", of(WORD, 36), (secret) => `\u001B[01;31m\u001B[Kghp_\u001B[m\u001B[K${secret}`],
  ["environment file", `${of(WORD, 20)}9`, (secret) => `SMTP_PASSWORD=${secret}\nNEXT=1`],
]

test("more than sixty shapes are tried", () => {
  expect(SECRETS.length).toBeGreaterThan(60)
})

test.each(
  SECRETS.map(([kind, secret, write = (it: string) => it]) => ({
    kind,
    secret,
    text: `before ${write(secret)} behind`,
  })),
)("$kind is hidden and counted, and what stands around it stays", ({ kind, secret, text }) => {
  const hiding = openHiding()
  const hidden = hiding.text(text)
  expect(hidden).not.toContain(secret)
  // The end of an endless key cannot be known.
  const isOpen = kind === "key without an end"
  expect(hidden).toMatch(isOpen ? /^before \[hidden/ : /^before [\s\S]*\[hidden: [^\]]+\][\s\S]* behind$/)
  expect([...hiding.counts().values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0)
  expect(JSON.stringify(openHiding().value({ nested: [{ text }] }))).not.toContain(secret)
})

const KEPT: readonly string[] = [
  "commit 3a67b56f2c1d9e8b7a6f5e4d3c2b1a0987654321 fixes it (3a67b56)",
  "session 8956b66f-3c1e-4d2a-9b7f-0a1b2c3d4e5f",
  "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  '"integrity": "sha512-7qJ8nnyj7WesC5ve185ioTpB2/svQoeGV4HA4nLEhgDUrcmBe54/08VcXc/oL4p14tDbxxECZzdYmUYQ+4l+Wg=="',
  "md5 d41d8cd98f00b204e9800998ecf8427e",
  "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
  "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  "sk_test_4eC39HqLyjWDarjtT1zdp7dc",
  "export OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
  "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
  "ANTHROPIC_API_KEY=your-api-key-here",
  "ANTHROPIC_API_KEY=<your key>",
  "TOKEN=$(cat token.txt)",
  "password: ${DB_PASSWORD}",
  "token: string; password?: string",
  "const token = readToken(input)",
  "apiKey: process.env.API_KEY,",
  "const password = form.password",
  "tokens: 1200, tokenizer: gpt, monkey = bar123456",
  "postgres://user:password@localhost:5432/app",
  "secretary: Ada Lovelace1",
  "the password is wrong, said the server",
  "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
  "https://example.org/a?sig=short&x=1",
  "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
  "npm_config_registry=https://registry.example.com/",
  "curl -u $USER:$PASS https://x",
  "mysql -uroot -p app",
  "docker login -u me -p <token>",
  "the login page of this machine asks for a password",
  "src/a.ts:5121:7:error:Cannot",
  "set -euo pipefail",
  "<token>string</token>",
  '{"password": "Enter your password here"}',
  'const token: string = "number"',
  "forgotpassword = true",
]

test.each(KEPT)("a lookalike stays: %s", (text) => {
  expect(openHiding().text(text)).toBe(text)
})

test("values of the user's own variables are hidden wherever they occur", () => {
  const hiding = openHiding({ MY_SERVICE_TOKEN: "plum-garden-77", HOME: "/home/me", PATH: "/usr/bin:/bin" })
  expect(hiding.text("it printed plum-garden-77 in /home/me")).toBe(
    "it printed [hidden: value of a variable] in /home/me",
  )
})

/** Quadratic work would far exceed the time limit of a test. */
test.each([
  "a_",
  "a-",
  "M",
  "key=",
  "://a:",
  "eyJ",
  "A".repeat(50),
  "secret_key ",
  "--token-",
  "curl ",
  "mysql -p",
  "machine a login b ",
  "setenv A_KEY ",
  "a:5432:b:c:",
  "<token>",
  "0123456789abcdef",
  "\n",
])("three megabytes of %j are looked through", (filling) => {
  const text = `${filling.repeat(Math.ceil(3_000_000 / filling.length))} password`
  expect(openHiding().text(text).length).toBeGreaterThan(0)
})
