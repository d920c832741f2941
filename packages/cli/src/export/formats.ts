/** The formats of an export. In a separate file because help needs them without the code. */
export const EXPORT_FORMATS = ["md", "html", "json"] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]
