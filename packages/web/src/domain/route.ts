/** Places in the page, kept in the URL fragment, which never reaches a server. */
export type Route =
  | { readonly place: "sessions" }
  | { readonly place: "session"; readonly id: string }
  | { readonly place: "questions" }
  | { readonly place: "spaces" }
  | { readonly place: "space"; readonly id: string }
  | { readonly place: "run"; readonly spaceID: string; readonly id: string }

/** `#token=...` (and `&session=...`), as `meridian serve` prints it, or a place. */
export const readFragment = (fragment: string): { readonly token?: string; readonly route: Route } => {
  const text = fragment.startsWith("#") ? fragment.slice(1) : fragment
  const given = text.startsWith("token=") ? new Map(text.split("&").map(splitPair)) : undefined
  const token = given?.get("token")
  if (given === undefined || token === undefined || token === "") return { route: readPlace(text) }
  const session = given.get("session")
  return { token, route: session === undefined ? { place: "sessions" } : { place: "session", id: session } }
}

export const fragmentOf = (route: Route): string => {
  switch (route.place) {
    case "sessions":
    case "questions":
    case "spaces":
      return `#/${route.place}`
    case "session":
    case "space":
      return `#/${route.place}/${encodeURIComponent(route.id)}`
    case "run":
      return `#/space/${encodeURIComponent(route.spaceID)}/run/${encodeURIComponent(route.id)}`
  }
}

const readPlace = (text: string): Route => {
  const [first = "", second, third, fourth] = text.replace(/^\//, "").split("/").map(decode)
  if (first === "spaces") return { place: "spaces" }
  if (first === "questions") return { place: "questions" }
  if (second === undefined || second === "") return { place: "sessions" }
  if (first === "session") return { place: "session", id: second }
  if (first !== "space") return { place: "sessions" }
  return third === "run" && fourth !== undefined && fourth !== ""
    ? { place: "run", spaceID: second, id: fourth }
    : { place: "space", id: second }
}

const splitPair = (pair: string): readonly [string, string] => {
  const at = pair.indexOf("=")
  return at === -1 ? [pair, ""] : [pair.slice(0, at), decode(pair.slice(at + 1))]
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
