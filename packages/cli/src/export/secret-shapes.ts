/**
 * What credentials look like. Each shape has a name people understand, hints, and a pattern. Every secret of its kind
 * contains one of the hints, so almost every text is skipped quickly. If a pattern has a group `value`, only that
 * part is hidden.
 *
 * Patterns are linear in the text: runs are bounded or cannot overlap with what follows them.
 */
export interface SecretShape {
  readonly name: string
  readonly hints: readonly string[]
  readonly pattern: RegExp
}

const shape = (name: string, hints: string | readonly string[], pattern: RegExp): SecretShape => ({
  name,
  hints: typeof hints === "string" ? [hints] : hints,
  pattern,
})

/** A token with a prefix that nothing else uses. */
const token = (name: string, prefix: string, rest = String.raw`[A-Za-z0-9_-]{16,512}`): SecretShape =>
  shape(name, prefix, new RegExp(`(?<![A-Za-z0-9])${prefix.replaceAll(".", String.raw`\.`)}${rest}`, "g"))

/** The same with a prefix that also occurs in ordinary data: inside a longer run of base64 it does not count. */
const weakToken = (name: string, prefix: string, rest: string): SecretShape =>
  shape(name, prefix, new RegExp(`(?<![A-Za-z0-9+/_-])${prefix}${rest}(?![A-Za-z0-9+/_-])`, "g"))

/** Programs that take a password without a long flag, and the form it has. */
const COMMANDS: readonly (readonly [program: string, flag: string])[] = [
  ["curl", String.raw`(?:-u|--user)[= ]?\s{0,2}["']?[^\s:"'$]{1,100}:`],
  ["wget", String.raw`--(?:http-|ftp-)?password=`],
  ["mysql", "-p"],
  ["mysqldump", "-p"],
  ["mysqladmin", "-p"],
  ["mariadb", "-p"],
  ["sshpass", String.raw`-p\s{0,2}`],
  ["redis-cli", String.raw`(?:-a|--pass)\s{1,2}`],
  ["docker login", String.raw`-p[= ]\s{0,2}`],
  ["podman login", String.raw`-p[= ]\s{0,2}`],
  ["helm registry login", String.raw`-p[= ]\s{0,2}`],
  ["az login", String.raw`-p[= ]\s{0,2}`],
  ["ldapsearch", String.raw`-w\s{1,2}`],
]

export const SECRET_SHAPES: readonly SecretShape[] = [
  // Whole blocks first: nothing inside them is examined again.
  shape(
    "private key",
    "PRIVATE KEY",
    /-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,20000}?(?:-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  ),
  shape(
    "PuTTY private key",
    "PuTTY-User-Key-File",
    /PuTTY-User-Key-File-\d:[\s\S]{0,20000}?Private-MAC: [0-9a-f]+/g,
  ),
  token("age secret key", "AGE-SECRET-KEY-1", "[0-9A-Z]{50,70}"),
  token("WireGuard key", "PrivateKey", String.raw`\s*=\s*(?<value>[A-Za-z0-9+/]{43}=)`),

  shape(
    "AWS access key",
    ["AKIA", "ASIA", "ABIA", "ACCA"],
    /(?<![A-Za-z0-9])A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  ),
  shape(
    "AWS secret key",
    ["aws", "AWS", "Aws", "SecretAccessKey"],
    /(?:aws|secret)[\w.-]{0,30}(?:secret|access)[\w.-]{0,20}key["']?\s{0,4}[:=]\s{0,4}["']?(?<value>[A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])/gi,
  ),
  shape(
    "AWS session token",
    ["session_token", "SESSION_TOKEN", "SessionToken"],
    /session_?token["']?\s{0,4}[:=]\s{0,4}["']?(?<value>[A-Za-z0-9/+=]{100,2000})/gi,
  ),

  token("GitHub token", "ghp_", "[A-Za-z0-9]{30,255}"),
  token("GitHub token", "gho_", "[A-Za-z0-9]{30,255}"),
  token("GitHub token", "ghu_", "[A-Za-z0-9]{30,255}"),
  token("GitHub token", "ghs_", "[A-Za-z0-9_.-]{30,500}"),
  token("GitHub token", "ghr_", "[A-Za-z0-9]{30,255}"),
  token("GitHub token", "github_pat_", "[A-Za-z0-9_]{30,255}"),
  ...["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glsoat-", "glft-", "glimt-", "glagent-", "gloas-"].map(
    (prefix) => token("GitLab token", prefix, "[A-Za-z0-9_.-]{16,300}"),
  ),
  token("Bitbucket token", "ATBB", "[A-Za-z0-9]{24,64}"),
  token("Atlassian token", "ATATT3", "[A-Za-z0-9_=-]{20,400}"),
  token("Atlassian token", "ATCTT3", "[A-Za-z0-9_=-]{20,400}"),

  token("Anthropic key", "sk-ant-", "[A-Za-z0-9_-]{20,200}"),
  token("OpenRouter key", "sk-or-", "[A-Za-z0-9_-]{20,200}"),
  shape(
    "OpenAI key",
    "sk-",
    /(?<![A-Za-z0-9])sk-(?:proj-|svcacct-|admin-|None-)?[A-Za-z0-9_-]{20,300}(?![A-Za-z0-9_-])/g,
  ),
  token("Google API key", "AIza", "[A-Za-z0-9_-]{35}"),
  token("Google OAuth token", "ya29.", "[A-Za-z0-9_-]{20,500}"),
  token("Google OAuth secret", "GOCSPX-", "[A-Za-z0-9_-]{20,60}"),
  token("Google refresh token", "1//0", "[A-Za-z0-9_-]{30,200}"),
  token("Groq key", "gsk_", "[A-Za-z0-9]{30,100}"),
  token("xAI key", "xai-", "[A-Za-z0-9]{40,120}"),
  token("Perplexity key", "pplx-", "[A-Za-z0-9]{30,80}"),
  token("Hugging Face token", "hf_", "[A-Za-z0-9]{30,60}"),
  token("Hugging Face token", "api_org_", "[A-Za-z0-9]{30,60}"),
  token("Replicate token", "r8_", "[A-Za-z0-9]{30,60}"),
  weakToken("Fireworks key", "fw_", "[A-Za-z0-9]{20,60}"),
  token("Cerebras key", "csk-", "[a-z0-9]{40,60}"),
  weakToken("ElevenLabs key", "sk_", "[a-f0-9]{48}"),
  token("NVIDIA key", "nvapi-", "[A-Za-z0-9_-]{40,100}"),
  token("Tavily key", "tvly-", "[A-Za-z0-9_-]{20,60}"),
  token("LangSmith key", "lsv2_", "[A-Za-z0-9_]{30,80}"),

  shape("Slack token", "xox", /(?<![A-Za-z0-9])xox[abdeoprs](?:\.xox[bp])?-[A-Za-z0-9.%+/=-]{10,500}/g),
  token("Slack app token", "xapp-", "[A-Za-z0-9-]{20,200}"),
  shape(
    "Slack webhook",
    "hooks.slack.com/",
    /https:\/\/hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9/_-]{20,200}/g,
  ),
  shape("Teams webhook", ".webhook.office.com/", /https:\/\/[\w-]{1,80}\.webhook\.office\.com\/\S{20,400}/g),
  shape(
    "Discord webhook",
    "/api/webhooks/",
    /https:\/\/(?:\w+\.)?discord(?:app)?\.com\/api\/webhooks\/\d{15,22}\/[A-Za-z0-9_-]{40,120}/g,
  ),
  shape(
    "Discord token",
    ["."],
    /(?<![A-Za-z0-9])[MNO][A-Za-z\d_-]{23,27}\.[A-Za-z\d_-]{6}\.[A-Za-z\d_-]{27,45}(?![A-Za-z0-9_-])/g,
  ),
  shape("Telegram token", ":AA", /(?<![A-Za-z0-9])\d{8,12}:AA[A-Za-z0-9_-]{32,36}(?![A-Za-z0-9_-])/g),

  shape(
    "Stripe key",
    ["_live_", "_test_"],
    /(?<![A-Za-z0-9])(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,200}/g,
  ),
  token("Stripe webhook secret", "whsec_", "[A-Za-z0-9+/=]{24,80}"),
  token("Square token", "sq0atp-", "[A-Za-z0-9_-]{20,40}"),
  token("Square secret", "sq0csp-", "[A-Za-z0-9_-]{40,60}"),
  weakToken("Square token", "EAAA", "[A-Za-z0-9_-]{58,70}"),
  ...["shpat_", "shpss_", "shpca_", "shppa_"].map((prefix) =>
    token("Shopify token", prefix, "[A-Fa-f0-9]{30,40}"),
  ),
  shape("Twilio key", "SK", /(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])/g),
  token("SendGrid key", "SG.", String.raw`[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,64}`),
  shape("Mailgun key", "key-", /(?<![A-Za-z0-9])key-[0-9a-f]{32}(?![A-Za-z0-9])/g),
  shape("Mailchimp key", "-us", /(?<![A-Za-z0-9])[0-9a-f]{32}-us\d{1,2}(?!\d)/g),
  token("Brevo key", "xkeysib-", "[A-Za-z0-9-]{60,100}"),
  token("Resend key", "re_", "[A-Za-z0-9]{8,12}_[A-Za-z0-9]{20,40}"),

  token("npm token", "npm_", "[A-Za-z0-9]{30,60}"),
  shape("npm token", "_authToken", /_authToken\s{0,4}=\s{0,4}["']?(?<value>[^\s"'$]{16,200})/g),
  shape(
    "npm password",
    "_auth",
    /(?<![A-Za-z0-9])_(?:auth|password)\s{0,4}=\s{0,4}["']?(?<value>[A-Za-z0-9+/=]{8,400})/g,
  ),
  token("PyPI token", "pypi-", "[A-Za-z0-9_-]{50,300}"),
  token("RubyGems key", "rubygems_", "[0-9a-f]{40,60}"),
  weakToken("crates.io token", "cio", "[A-Za-z0-9]{32}"),
  weakToken("NuGet key", "oy2", "[a-z0-9]{43}"),
  token("Docker token", "dckr_pat_", "[A-Za-z0-9_-]{20,60}"),
  token("Docker token", "dckr_oat_", "[A-Za-z0-9_-]{20,60}"),
  shape("Docker credentials", '"auth"', /"auth"\s{0,4}:\s{0,4}"(?<value>[A-Za-z0-9+/=]{12,2000})"/g),
  token("Artifactory token", "AKCp", "[A-Za-z0-9]{60,80}"),

  ...["dop_v1_", "doo_v1_", "dor_v1_"].map((prefix) =>
    token("DigitalOcean token", prefix, "[a-f0-9]{60,70}"),
  ),
  weakToken("Render key", "rnd_", "[A-Za-z0-9]{28,40}"),
  shape("Dropbox token", "sl.", /(?<![A-Za-z0-9+/_-])sl\.[A-Za-z0-9_-]{100,300}(?![A-Za-z0-9_-])/g),
  token("Heroku key", "HRKU-", "[A-Za-z0-9_-]{30,80}"),
  token("Netlify token", "nfp_", "[A-Za-z0-9]{30,60}"),
  ...["vcp_", "vci_", "vca_", "vcr_", "vck_"].map((prefix) =>
    token("Vercel token", prefix, "[A-Za-z0-9]{24,80}"),
  ),
  token("Supabase token", "sbp_", "[a-f0-9]{40,60}"),
  token("Supabase secret", "sb_secret_", "[A-Za-z0-9_-]{20,60}"),
  ...["pscale_tkn_", "pscale_pw_", "pscale_oauth_"].map((prefix) =>
    token("PlanetScale token", prefix, "[A-Za-z0-9_.-]{30,70}"),
  ),
  token("Neon key", "napi_", "[A-Za-z0-9]{40,80}"),
  token("Fly.io token", "fm2_", "[A-Za-z0-9+/=_-]{40,1000}"),
  token("Fly.io token", "FlyV1 ", String.raw`\S{40,1000}`),
  weakToken("Databricks token", "dapi", String.raw`[a-f0-9]{32}(?:-\d)?`),
  token("Pulumi token", "pul-", "[a-f0-9]{40}"),
  shape(
    "Terraform token",
    ".atlasv1.",
    /(?<![A-Za-z0-9])[A-Za-z0-9]{10,20}\.atlasv1\.[A-Za-z0-9_=-]{50,90}/g,
  ),
  ...["hvs.", "hvb.", "hvr."].map((prefix) => token("Vault token", prefix, "[A-Za-z0-9_-]{20,300}")),
  ...["dp.pt.", "dp.st.", "dp.ct.", "dp.sa."].map((prefix) =>
    token("Doppler token", prefix, "[A-Za-z0-9_.-]{30,80}"),
  ),
  token("1Password token", "ops_ey", "[A-Za-z0-9+/=_-]{100,2000}"),
  ...["tskey-auth-", "tskey-api-", "tskey-client-"].map((prefix) =>
    token("Tailscale key", prefix, "[A-Za-z0-9-]{16,100}"),
  ),
  token("Cloudflare token", "v1.0-", "[A-Za-z0-9-]{60,180}"),
  shape("Azure storage key", "AccountKey=", /AccountKey=(?<value>[A-Za-z0-9+/=]{40,100})/g),
  shape("Azure shared access signature", "sig=", /[?&]sig=(?<value>[A-Za-z0-9%+/=]{30,200})/g),
  shape(
    "Azure client secret",
    "~",
    /(?<![A-Za-z0-9._~-])[A-Za-z0-9_.-]{3}8?Q?~[A-Za-z0-9_.~-]{31,36}(?![A-Za-z0-9._~-])/g,
  ),

  token("New Relic key", "NRAK-", "[A-Z0-9]{25,30}"),
  token("Sentry token", "sntrys_", "[A-Za-z0-9+/=_-]{40,400}"),
  token("Sentry token", "sntryu_", "[a-f0-9]{60,70}"),
  token("Grafana token", "glsa_", "[A-Za-z0-9_]{30,60}"),
  token("Grafana token", "glc_", "[A-Za-z0-9+/=]{30,400}"),
  token("Honeycomb key", "hcaik_", "[A-Za-z0-9]{40,80}"),
  token("PostHog key", "phx_", "[A-Za-z0-9]{30,60}"),
  token("Postman key", "PMAK-", "[a-f0-9-]{50,70}"),
  token("Linear key", "lin_api_", "[A-Za-z0-9]{30,60}"),
  token("Linear token", "lin_oauth_", "[A-Za-z0-9]{30,80}"),
  token("Notion token", "ntn_", "[A-Za-z0-9]{30,60}"),
  token("Notion token", "secret_", "[A-Za-z0-9]{40,50}(?![A-Za-z0-9])"),
  token("Figma token", "figd_", "[A-Za-z0-9_-]{30,60}"),
  weakToken("Airtable token", "pat", String.raw`[A-Za-z0-9]{14}\.[a-f0-9]{64}`),
  weakToken("Asana token", "1/", String.raw`\d{12,20}:[a-f0-9]{32}`),
  token("Mapbox token", "sk.eyJ", String.raw`[A-Za-z0-9_-]{20,300}\.[A-Za-z0-9_-]{16,60}`),
  token("Buildkite token", "bkua_", "[a-f0-9]{40}"),
  token("CircleCI token", "CCIPAT_", "[A-Za-z0-9_]{20,100}"),
  ...["sqp_", "squ_", "sqa_"].map((prefix) => token("SonarQube token", prefix, "[a-f0-9]{40}")),
  token("LaunchDarkly key", "sdk-", "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
  shape("Okta token", "SSWS ", /SSWS\s{1,4}(?<value>[A-Za-z0-9_-]{30,60})/g),
  token("Firebase key", "AAAA", "[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{100,200}"),

  shape(
    "JSON Web Token",
    "eyJ",
    /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{10,1000}/g,
  ),
  shape(
    "password in an address",
    "://",
    /(?<=[a-z][a-z0-9+.-]{0,20}:\/\/[^\s:/@"'`<>]{0,100}:)(?<value>[^\s:/@"'`<>$]{3,200})(?=@[\w.-])/gi,
  ),
  shape(
    "authorization header",
    ["earer ", "EARER "],
    /(?<![A-Za-z0-9])bearer\s{1,4}(?<value>[A-Za-z0-9._~+/=-]{16,2000})/gi,
  ),
  shape(
    "authorization header",
    ["uthorization", "UTHORIZATION"],
    /authorization["']?\s{0,4}[:=]\s{0,4}["']?(?:basic|token|apikey|digest|negotiate)?\s{0,4}(?<value>[A-Za-z0-9._~+/=-]{12,2000})/gi,
  ),
  shape(
    "secret on a command line",
    "--",
    /--(?:[a-z0-9]{1,20}-){0,3}(?:password|passwd|passphrase|token|secret|api-key|apikey|access-key|secret-key)[= ]\s{0,2}["']?(?<value>[^\s"'$`<>[{(]{6,400})/gi,
  ),
  ...COMMANDS.map(([program, flag]) =>
    shape(
      "secret on a command line",
      program,
      new RegExp(
        String.raw`(?<![A-Za-z0-9])${program}(?![A-Za-z0-9])[^\r\n]{0,300}?\s${flag}["']?(?<value>[^\s"'${"`"}$<{(][^\s"'${"`"}]{2,200})`,
        "g",
      ),
    ),
  ),
  shape(
    "variable of a shell",
    ["setenv", "set -"],
    /(?<![A-Za-z0-9])(?:setenv|set -[A-Za-z-]{1,20})\s{1,4}\w{0,60}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PWD)\w{0,20}\s{1,4}["']?(?<value>[^\s"'`$<{(][^\s"'`]{5,400})/g,
  ),
  shape(
    "password of a netrc",
    "machine",
    /machine\s{1,4}\S{1,200}\s{1,40}login\s{1,4}\S{1,200}\s{1,40}password\s{1,4}(?<value>\S{3,400})/g,
  ),
  shape(
    "password of a pgpass",
    ":",
    /^[\w.*/-]{1,100}:(?:\*|[56]\d{3}):[A-Za-z_*][\w.*-]{0,62}:[A-Za-z_*][\w.*-]{0,62}:(?<value>[^\s:]{3,200})$/gm,
  ),
  shape(
    "secret in XML",
    "</",
    /<[\w.:-]{0,40}(?:password|passwd|secret|token|api[_-]?key)[\w-]{0,20}>(?<value>(?=[^<\s]{0,400}\d)[^<\s]{6,400})<\//gi,
  ),
  shape(
    "cookie",
    ["ookie:", "OOKIE:"],
    /(?<![A-Za-z0-9])(?:set-)?cookie:\s{0,4}(?<value>[^\r\n"']{8,4000})/gi,
  ),
]
