/**
 * Every text that enters the document passes through here, whatever its source: titles, names, paths, answers of models. So
 * no view has to remember to make its text plain, and none can forget.
 */
import { plainText } from "@meridian/protocol"
import { options, type VNode } from "preact"

/** Call this once, before anything is drawn. */
export const keepTextPlain = (): void => {
  // The signals library has its own hook here.
  const before = options.vnode?.bind(options)
  options.vnode = (vnode) => {
    makePlain(vnode)
    before?.(vnode)
  }
}

/** Attributes that are shown or read out. */
const SHOWN = ["title", "aria-label", "placeholder", "alt"]

const makePlain = (vnode: VNode<Record<string, unknown>>): void => {
  const { props, type }: { readonly props: unknown; readonly type: unknown } = vnode
  // A text node has no type; its text is in place of the properties.
  if (type === null && typeof props === "string") Object.assign(vnode, { props: plainText(props) })
  if (typeof type !== "string") return
  for (const name of SHOWN) {
    const value = vnode.props[name]
    if (typeof value === "string") vnode.props[name] = plainText(value)
  }
}
