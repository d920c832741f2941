/**
 * Finds which of a run's changed files its checks depend on: the script a check starts, the tests it names, the
 * scripts of a package. An agent that changes these may have made the check easier, so they are named beside the
 * verdict. The search looks at the words of the command lines and of the scripts they lead to. The caller reads the
 * wanted files and asks again until nothing more is wanted.
 */
import { asObject, textAt, type JsonObject } from "@meridian/protocol"

import { decodeJson } from "./json-line.ts"

export interface ChangedFile {
  /** Relative to the top of the checkout. */
  readonly path: string
  readonly isAdded: boolean
}

/** Undefined if the file did not exist or is not text. */
export interface FileTexts {
  readonly before: string | undefined
  readonly after: string | undefined
}

export interface CheckFiles {
  /** In the order of the changes. */
  readonly named: readonly string[]
  /** Files whose text would help. */
  readonly wants: readonly string[]
}

export interface CheckFilesQuestion {
  readonly commands: readonly string[]
  /** Where the commands run, relative to the top of the checkout; "" for the top itself. */
  readonly folder: string
  readonly changes: readonly ChangedFile[]
  /** The texts read so far. */
  readonly texts: ReadonlyMap<string, FileTexts>
}

export const findCheckFiles = ({ commands, folder, changes, texts }: CheckFilesQuestion): CheckFiles => {
  const named = new Set<string>()
  const wanted = new Set<string>()
  const seen = new Set<string>()
  const open = commands.map((text): Line => ({ text, isScript: false }))
  for (let line = open.pop(); line !== undefined && seen.size < MOST_LINES; line = open.pop()) {
    if (seen.has(line.text)) continue
    seen.add(line.text)
    const words = withMakefiles(wordsOf(line.text))
    const naming = namingOf(words, line.isScript, folder)
    for (const change of changes) if (isNamed(change, naming)) named.add(change.path)
    for (const path of scriptsNamed(words).map((word) => within(folder, word))) {
      wanted.add(path)
      open.push(...versionsOf(texts.get(path)).map((text) => ({ text, isScript: true })))
    }
    if (!words.some((word) => PACKAGE_RUNNERS.has(word))) continue
    const path = within(folder, "package.json")
    wanted.add(path)
    const started = startedScripts(words, texts.get(path))
    if (started.areChanged) named.add(path)
    open.push(...started.texts.map((text) => ({ text, isScript: false })))
  }
  return {
    named: changes.flatMap(({ path }) => (named.has(path) ? [path] : [])),
    wants: [...wanted].filter((path) => !texts.has(path)).slice(0, MOST_FILES),
  }
}

/** A command line, or the text of a script it starts. */
interface Line {
  readonly text: string
  readonly isScript: boolean
}

const MOST_LINES = 100
const MOST_FILES = 50

/** Words of a shell, roughly: what is between blanks and signs. A line break precedes each command but the first. */
const wordsOf = (text: string): readonly string[] =>
  text
    .replaceAll(/[\n;|&(){}]+/g, " \0 ")
    .split(/[\s'"`<>=,$]+/)
    .flatMap((word) => {
      if (word === "\0") return ["\n"]
      const plain = word.replace(/^(?:\.\/)+/, "").replace(/\/+$/, "")
      return plain === "" || plain === "." ? [] : [plain]
    })

const within = (folder: string, word: string): string => (folder === "" ? word : `${folder}/${word}`)

/** How a line's words name files. */
interface Naming {
  /** Whether each word is in the position of a program, its script or its settings. */
  readonly isStarted: ReadonlyMap<string, boolean>
  readonly findsTests: boolean
  readonly isScript: boolean
  readonly folder: string
}

const namingOf = (words: readonly string[], isScript: boolean, folder: string): Naming => {
  const isStarted = new Map<string, boolean>()
  let before: string | undefined
  for (const word of words) {
    isStarted.set(word, isStarted.get(word) === true || before === undefined || BEFORE_SCRIPT.test(before))
    // Flags come between a program and its script.
    if (!/^-(?!-?(?:config|project|import|require|p)$)/.test(word)) before = word
  }
  return { isStarted, isScript, folder, findsTests: words.some((word) => FINDS_TESTS.test(word)) }
}

const isNamed = (
  { path, isAdded }: ChangedFile,
  { isStarted, findsTests, isScript, folder }: Naming,
): boolean => {
  // New tests are what the task asks for. Changed or deleted tests are different.
  if (findsTests && !isAdded && isOfTests(path)) return true
  const isProof = isOfTests(path) || isRead(path)
  const here = folder !== "" && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path
  // Checks, and scripts even more so, also name the files they look at.
  if (isProof && [path, here].some((name) => isStarted.has(name))) return true
  const names = isStarted.has("cd") ? endsOf(path) : [path, here]
  return (!isScript || isProof) && names.some((name) => isStarted.get(name) === true)
}

/** `a/b/c`, `b/c` and `c`: a command may have gone into a folder first. */
const endsOf = (path: string): readonly string[] => {
  const names = path.split("/")
  return names.map((_, index) => names.slice(index).join("/"))
}

const BEFORE_SCRIPT =
  /^(?:\n|(?:.*\/)?(?:(?:ba|z|da|k)?sh|node|python[\d.]*|ruby|perl|php|deno|bun|tsx|ts-node|source|env|time|exec|make)|run|--?(?:config|project|import|require|p))$/

/** Parts of the names of programs and scripts that find their tests on their own. */
const FINDS_TESTS = /test|spec|jest|mocha|\bava\b|tox|nox|check|verify|cypress|playwright|karma|rake/i

/** Tests, and files that say how to run them. */
const isOfTests = (path: string): boolean => TEST.test(path) || SETTINGS_OF_TESTS.test(path)

const TEST = /(?:^|[/._-])(?:tests?|specs?|__tests__|__snapshots__|e2e|conftest|checks?|verify)(?:[/._-]|$)/i

const SETTINGS_OF_TESTS =
  /(?:^|\/)(?:(?:vitest|vite|jest|playwright|cypress|karma|ava|babel|wdio)\.(?:[\w.]+\.)?config\.\w+|\.mocharc[\w.]*|pytest\.ini|tox\.ini|noxfile\.py|setup\.cfg|phpunit\.xml[\w.]*|\.rspec)$/i

/** Files whose text is read too: shell scripts, and the files make reads. */
const scriptsNamed = (words: readonly string[]): readonly string[] =>
  words.filter((word) => !/^[/-]/.test(word) && (isRead(word) || /\/[^./]+$/.test(word)))

const isRead = (path: string): boolean =>
  /\.(?:ba|z)?sh$/.test(path) || MAKEFILES.includes(path.replace(/.*\//, ""))

const withMakefiles = (words: readonly string[]): readonly string[] =>
  words.some((word) => MAKERS.has(word)) ? [...words, ...MAKEFILES] : words

const MAKERS: ReadonlySet<string> = new Set(["make", "gmake", "just"])
const MAKEFILES = ["Makefile", "makefile", "GNUmakefile", "justfile"]

const PACKAGE_RUNNERS: ReadonlySet<string> = new Set(["npm", "pnpm", "yarn", "bun"])

/** Scripts of the package that these words start, before and after the change. */
const startedScripts = (
  words: readonly string[],
  texts: FileTexts | undefined,
): { readonly areChanged: boolean; readonly texts: readonly string[] } => {
  const names = words
    .map((word) => (word === "t" || word === "tst" ? "test" : word))
    .flatMap((word) => [`pre${word}`, word, `post${word}`])
  const [before, after] = [scriptsIn(texts?.before), scriptsIn(texts?.after)]
  return {
    areChanged: names.some((name) => textAt(before, name) !== textAt(after, name)),
    texts: names
      .flatMap((name) => [textAt(before, name), textAt(after, name)])
      .filter((text) => text !== undefined),
  }
}

const scriptsIn = (text: string | undefined): JsonObject | undefined =>
  asObject(asObject(decodeJson(text ?? ""))?.["scripts"])

const versionsOf = (texts: FileTexts | undefined): readonly string[] =>
  [texts?.before, texts?.after].filter((text) => text !== undefined)
