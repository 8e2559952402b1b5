/** The stored form of a definition: what was written, by the names of its kind. */

export type Definition = Readonly<Record<string, unknown>>
