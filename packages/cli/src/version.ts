/** A literal, so that `meridian --version` reads no file; a test holds it against package.json. */
export const VERSION = "0.1.0"
