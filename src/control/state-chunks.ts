/**
 * A state that is larger than a body comes in chunks, in order, and is kept when it is whole. One comes at a time: another
 * that begins takes its place. Only who has the installation sends any.
 */

import { refuse } from '#kernel/error.ts'

/** Of a whole state, packed. */
const stateBytesMax = 128 * 1024 * 1024

interface StateChunk {
  readonly content: Uint8Array
  /** Where the chunk begins, and how long the whole is. */
  readonly at: number
  readonly total: number
}

interface StateChunks {
  /** The whole state with its last chunk; before that, undefined. */
  take(name: string, chunk: StateChunk): Uint8Array | undefined
}

export function openStateChunks(): StateChunks {
  let coming: { readonly name: string; readonly total: number; chunks: Uint8Array[] } | undefined
  let length = 0
  return {
    take(name, { content, at, total }) {
      if (total > stateBytesMax) {
        const reason = `a state has at most ${stateBytesMax / 1024 / 1024} MB`
        throw refuse.InvalidRequestContent({ reason }, { target: 'total' })
      }
      if (at === 0) {
        coming = { name, total, chunks: [] }
        length = 0
      }
      const isNext = coming?.name === name && coming.total === total && length === at
      if (coming === undefined || !isNext || at + content.length > total) {
        coming = undefined
        const reason = `no chunk of the state '${name}' is expected there; begin anew`
        throw refuse.ControlNotPossible({ reason })
      }
      coming.chunks.push(content)
      length += content.length
      if (length < total) return undefined
      const whole = Buffer.concat(coming.chunks)
      coming = undefined
      return whole
    },
  }
}
