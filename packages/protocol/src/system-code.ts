/** The code of a system error, such as ENOENT; "" for any other error. */
export const systemCode = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : ""
