/** What one request for a page brought: nothing is followed. */
export type FetchedPage =
  | {
      readonly kind: "page"
      readonly status: number
      readonly type: string
      readonly body: string
      readonly cut: boolean
    }
  | { readonly kind: "redirect"; readonly to: string }
  | { readonly kind: "failed"; readonly why: string }
