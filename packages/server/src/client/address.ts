/** The address of a call: names in the path are taken from the input; the rest is query or body. */
export const fillPath = (template: string, input: Readonly<Record<string, unknown>>) => {
  const rest = { ...input }
  const path = template.replaceAll(/:(\w+)/g, (_match, name: string) => {
    const value = rest[name]
    delete rest[name]
    return encodeURIComponent(String(value))
  })
  return { path, rest }
}

/** Includes the `?`; "" when there is nothing. */
export const queryOf = (values: Readonly<Record<string, unknown>>): string => {
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  if (given.length === 0) return ""
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`
}
