/**
 * Reduces a tree of declaration files to what some entries reach. A library ships these: its public types stand alone,
 * whatever its internals are written with. Works on whole top-level statements, file by file, so nothing is renamed.
 */
import { parseSync, type ImportDeclaration, type Program, type Statement } from "oxc-parser"

export interface DeclarationTree {
  readonly read: (file: string) => string
  /** The file that an import leads to; undefined when it leaves the tree. */
  readonly resolve: (specifier: string, from: string) => string | undefined
  /** How `from` writes an import of `to` in the result. */
  readonly specifier: (to: string, from: string) => string
}

export interface Shaken {
  /** File -> its text with unreached declarations left out. */
  readonly files: ReadonlyMap<string, string>
  /** Imports that leave the tree. */
  readonly outside: ReadonlySet<string>
}

export const shakeDeclarations = (entries: readonly string[], tree: DeclarationTree): Shaken => {
  const modules = new Map<string, Module>()
  const outside = new Set<string>()

  const open = (file: string): Module => {
    const known = modules.get(file)
    if (known !== undefined) return known
    const module = readModule(tree.read(file))
    modules.set(file, module)
    return module
  }

  const reach = (specifier: string, from: string, name: string): void => {
    const file = tree.resolve(specifier, from)
    if (file === undefined) outside.add(specifier)
    else if (name === "*") for (const each of exportsOf(file)) keepExport(file, each)
    else keepExport(file, name)
  }

  const exportsOf = (file: string): ReadonlySet<string> => {
    const { exported, stars } = open(file)
    const names = new Set(exported.keys())
    for (const star of stars) {
      const target = tree.resolve(star, file)
      if (target !== undefined) for (const name of exportsOf(target)) names.add(name)
    }
    return names
  }

  /** Whether the file has such an export. */
  const keepExport = (file: string, name: string): boolean => {
    const module = open(file)
    const found = module.exported.get(name)
    if (found === undefined)
      return module.stars.some((star) => {
        const target = tree.resolve(star, file)
        if (target === undefined || !keepExport(target, name)) return false
        module.keptStars.add(star)
        return true
      })
    if (module.keptExports.has(name)) return true
    module.keptExports.add(name)
    if (found.from === undefined) keepLocal(file, found.name)
    else reach(found.from, file, found.name)
    return true
  }

  const keepLocal = (file: string, name: string): void => {
    const module = open(file)
    const imported = module.imported.get(name)
    if (imported !== undefined && !module.keptImports.has(name)) {
      module.keptImports.add(name)
      reach(imported.from, file, imported.name)
    }
    for (const statement of module.declared.get(name) ?? []) {
      if (module.kept.has(statement)) continue
      module.kept.add(statement)
      for (const used of statement.uses) keepLocal(file, used)
      for (const { from, name: far } of statement.inline) reach(from, file, far)
    }
  }

  for (const entry of entries) for (const name of exportsOf(entry)) keepExport(entry, name)
  const files = new Map<string, string>()
  for (const [file, module] of modules)
    if (module.keptExports.size + module.keptStars.size > 0 || entries.includes(file))
      files.set(
        file,
        render(module, (specifier) => {
          const target = tree.resolve(specifier, file)
          return target === undefined ? specifier : tree.specifier(target, file)
        }),
      )
  return { files, outside }
}

interface Far {
  readonly from: string
  readonly name: string
}

interface Declaration {
  readonly start: number
  readonly end: number
  readonly uses: ReadonlySet<string>
  /** `import("x").Name` inside it. */
  readonly inline: readonly (Far & { readonly start: number; readonly end: number })[]
}

interface Exported {
  readonly name: string
  readonly from?: string
  /** `export interface X`: the declaration says so itself. */
  readonly inPlace?: true
}

interface Module {
  readonly text: string
  readonly imported: ReadonlyMap<string, Far>
  readonly declared: ReadonlyMap<string, readonly Declaration[]>
  readonly exported: ReadonlyMap<string, Exported>
  readonly stars: readonly string[]
  readonly kept: Set<Declaration>
  readonly keptImports: Set<string>
  readonly keptExports: Set<string>
  readonly keptStars: Set<string>
}

const readModule = (text: string): Module => {
  const { program, errors } = parseSync("declarations.d.ts", text)
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join("\n"))
  const imported = new Map<string, Far>()
  const declared = new Map<string, Declaration[]>()
  const exported = new Map<string, Exported>()
  const stars: string[] = []
  for (const { statement, start } of withComments(program)) {
    if (statement.type === "ImportDeclaration")
      for (const [local, far] of importsOf(statement)) imported.set(local, far)
    else if (statement.type === "ExportAllDeclaration") stars.push(statement.source.value)
    else if (statement.type === "ExportNamedDeclaration") {
      for (const { local, exported: name } of statement.specifiers)
        exported.set(nameOf(name), {
          name: nameOf(local),
          ...(statement.source === null ? {} : { from: statement.source.value }),
        })
      const names = namesOf(statement.declaration)
      for (const name of names) exported.set(name, { name, inPlace: true })
      declare(declared, names, declarationOf(statement, start))
    } else declare(declared, namesOf(statement), declarationOf(statement, start))
  }
  return {
    text,
    imported,
    declared,
    exported,
    stars,
    kept: new Set(),
    keptImports: new Set(),
    keptExports: new Set(),
    keptStars: new Set(),
  }
}

/** A comment before a statement belongs to it. */
const withComments = (
  program: Program,
): readonly { readonly statement: Statement; readonly start: number }[] =>
  program.body.map((statement, index) => ({
    statement,
    start: index === 0 ? 0 : (program.body[index - 1]?.end ?? 0),
  }))

const importsOf = ({ source, specifiers }: ImportDeclaration): readonly (readonly [string, Far])[] =>
  specifiers.map((specifier) => {
    const name = specifier.type === "ImportSpecifier" ? nameOf(specifier.imported) : "*"
    return [specifier.local.name, { from: source.value, name }]
  })

const nameOf = (name: { readonly name: string } | { readonly value: string }): string =>
  "name" in name ? name.name : name.value

const declare = (
  declared: Map<string, Declaration[]>,
  names: readonly string[],
  declaration: Declaration,
): void => {
  for (const name of names) declared.set(name, [...(declared.get(name) ?? []), declaration])
}

const namesOf = (statement: unknown): readonly string[] => {
  const id = fieldOf(statement, "id")
  const declarators = fieldOf(statement, "declarations")
  if (Array.isArray(declarators)) return declarators.flatMap(namesOf)
  const name = fieldOf(id, "name")
  return typeof name === "string" ? [name] : []
}

const declarationOf = (statement: Statement, start: number): Declaration => {
  const uses = new Set<string>()
  const inline: (Far & { readonly start: number; readonly end: number })[] = []
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(walk)
    if (typeof node !== "object" || node === null) return
    const type = fieldOf(node, "type")
    const name = fieldOf(node, "name")
    if (type === "Identifier" && typeof name === "string") uses.add(name)
    if (type === "TSImportType") {
      const source = fieldOf(node, "source")
      const from = String(fieldOf(source, "value"))
      const far = fieldOf(fieldOf(node, "qualifier"), "name")
      const at = { start: Number(fieldOf(source, "start")), end: Number(fieldOf(source, "end")) }
      inline.push({ from, name: typeof far === "string" ? far : "*", ...at })
    }
    for (const [key, value] of Object.entries(node))
      // A property name is not a use of something with the same name.
      if (key !== "key" || fieldOf(node, "computed") === true) walk(value)
  }
  walk(statement)
  return { start, end: statement.end, uses, inline }
}

const fieldOf = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined

const render = (module: Module, rewrite: (specifier: string) => string): string => {
  const { text, imported, keptImports, exported, keptExports, keptStars, kept } = module
  const imports = [...keptImports].flatMap((local) => {
    const far = imported.get(local)
    if (far === undefined) return []
    const what =
      far.name === "*" ? `* as ${local}` : `{ ${far.name === local ? local : `${far.name} as ${local}`} }`
    return [`import type ${what} from ${JSON.stringify(rewrite(far.from))}`]
  })
  const declarations = [...kept].sort((one, other) => one.start - other.start)
  const exports = [...keptExports].flatMap((name) => {
    const found = exported.get(name)
    if (found === undefined || found.inPlace === true) return []
    const what = found.name === name ? name : `${found.name} as ${name}`
    return [
      `export { ${what} }${found.from === undefined ? "" : ` from ${JSON.stringify(rewrite(found.from))}`}`,
    ]
  })
  const stars = [...keptStars].map((star) => `export * from ${JSON.stringify(rewrite(star))}`)
  const head = declarations[0]?.start === 0 ? [] : headerOf(text)
  const body = declarations.map((declaration) => slice(text, declaration, rewrite).trim())
  return `${[...head, ...imports, ...body, ...exports, ...stars, "export {}"].join("\n")}\n`
}

/** The comment at the start of a file, which says what it is. */
const headerOf = (text: string): readonly string[] => {
  const [comment] = /^\/\*\*[\s\S]*?\*\//.exec(text) ?? []
  return comment === undefined ? [] : [comment]
}

const slice = (
  text: string,
  { start, end, inline }: Declaration,
  rewrite: (from: string) => string,
): string => {
  let result = ""
  let at = start
  for (const far of inline) {
    result += `${text.slice(at, far.start)}${JSON.stringify(rewrite(far.from))}`
    at = far.end
  }
  return result + text.slice(at, end)
}
