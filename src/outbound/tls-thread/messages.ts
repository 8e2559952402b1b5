/** What a process and its thread of TLS say to each other. */

/** Where a connection goes, and whose certificate is expected there. */
export interface SecureTarget {
  readonly host: string
  readonly port: number
  /** Those that the policy judged. */
  readonly addresses: readonly string[]
  /** The name in the certificate; also the one that the server is sent, unless it is an address. */
  readonly name: string
  /** False: any certificate does. */
  readonly isChecked: boolean
  /** Whose connection it is, where that is known: handshakes take turns by owner. */
  readonly owner?: string | undefined
}

/** `read`: more bytes are taken. `end`: none follow. `close`: nobody waits for it any more. */
export type ToThread =
  | { readonly kind: 'open'; readonly id: number; readonly target: SecureTarget }
  | { readonly kind: 'read' | 'end' | 'close'; readonly id: number }
  | { readonly kind: 'write'; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'trust'; readonly authorities: readonly string[] }

/** `slow`: the handshake with this address took long. */
export type FromThread =
  | { readonly kind: 'slow'; readonly id: number; readonly address: string }
  | { readonly kind: 'written' | 'end' | 'closed'; readonly id: number }
  | { readonly kind: 'bytes'; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | {
      readonly kind: 'failed'
      readonly id: number
      readonly message: string
      readonly code: string | undefined
    }

/** A copy that can be given away: the memory of a socket's bytes may hold others too. */
export function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes)
}
