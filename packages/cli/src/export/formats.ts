/** How an export can be written. Alone in its file: help needs it and none of the code. */
export const EXPORT_FORMATS = ["md", "html", "json"] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]
