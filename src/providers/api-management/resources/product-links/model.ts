/** A link of a product as it is stored: what it leads to, as it was when the link was made. Lists look again. */

export type LinkTarget = Readonly<Record<string, unknown>>
