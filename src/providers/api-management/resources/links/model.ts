/** The stored form of a link: its target when the link was made. Lists read the target again. */

export type LinkTarget = Readonly<Record<string, unknown>>
