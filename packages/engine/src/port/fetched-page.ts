/** The result of one request for a page. Redirects are not followed. */
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
