/**
 * Every text that enters the document passes here, whatever it is and wherever it comes from: titles, names, paths, answers of
 * models. So no view has to remember to make its text plain, and none can forget.
 */
import { plainText } from "@meridian/protocol"
import { options, type VNode } from "preact"

/** To be called once, before anything is drawn. */
export const keepTextPlain = (): void => {
  // The library of signals has its own hook here.
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
  // A text of the document is a node without a type; its text takes the place of the properties.
  if (type === null && typeof props === "string") Object.assign(vnode, { props: plainText(props) })
  if (typeof type !== "string") return
  for (const name of SHOWN) {
    const value = vnode.props[name]
    if (typeof value === "string") vnode.props[name] = plainText(value)
  }
}
