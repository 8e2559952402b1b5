/** A definition as it is stored: what was written, by the names of its kind. */

export type Definition = Readonly<Record<string, unknown>>
