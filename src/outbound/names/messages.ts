/** What a process and its process of names say to each other. */

export interface Lookup {
  readonly id: number
  readonly name: string
}

export type Answer =
  | { readonly id: number; readonly addresses: readonly string[] }
  /** `code`: the system's, of what it could not resolve. */
  | { readonly id: number; readonly reason: string; readonly code?: string | undefined }
  /** It takes long, and is under way. */
  | { readonly id: number; readonly isSlow: true }
