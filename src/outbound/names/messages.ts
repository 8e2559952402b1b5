/** What a process and its process of names say to each other. */

export interface Lookup {
  readonly id: number
  readonly name: string
}

export type Answer =
  | { readonly id: number; readonly addresses: readonly string[] }
  | { readonly id: number; readonly reason: string }
