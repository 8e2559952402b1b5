/** Bytes to a socket, bytes back: for what no HTTP client would send. */

import { connect } from 'node:net'

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface RawOptions {
  /** How many whole answers to wait for, interim ones included. */
  readonly answers?: number
  readonly quietSeconds?: number
  /** The request was a HEAD: announced lengths are not followed by content. */
  readonly bodyless?: boolean
  /** Closes its own side after sending: the server learns that no more will come. */
  readonly hangsUp?: boolean
}

/**
 * Sends `parts` one after the other and reads until the server closes, the first whole answer is there, or
 * `quietSeconds` pass without one. Gives every answer seen; none when the server just closed.
 */
export function rawRequest(
  port: number,
  parts: readonly (string | Uint8Array)[],
  { answers = 1, quietSeconds = 5, bodyless = false, hangsUp = false }: RawOptions = {},
): Promise<readonly RawAnswer[]> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let received = Buffer.alloc(0)
    const finish = (): void => {
      socket.destroy()
      resolve(parseAnswers(received, bodyless))
    }
    socket.setTimeout(quietSeconds * 1000, finish)
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      if (parseAnswers(received, bodyless).length >= answers) finish()
    })
    socket.on('close', finish)
    // A reset after the answer is as good as a close.
    socket.on('error', finish)
    socket.on('connect', () => {
      for (const part of parts)
        socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part)
      if (hangsUp) socket.end()
    })
  })
}

/** Whole answers only; interim ones (1xx) have no body. */
function parseAnswers(bytes: Buffer, bodyless: boolean): readonly RawAnswer[] {
  const answers: RawAnswer[] = []
  let from = 0
  for (;;) {
    const end = bytes.indexOf('\r\n\r\n', from)
    if (end < 0) return answers
    const [line = '', ...fields] = bytes.toString('latin1', from, end).split('\r\n')
    const status = Number(line.split(' ')[1])
    const headers: Record<string, string> = {}
    for (const field of fields) {
      const colon = field.indexOf(':')
      headers[field.slice(0, colon).toLowerCase()] = field.slice(colon + 1).trim()
    }
    const start = end + 4
    const length = status < 200 || bodyless ? 0 : Number(headers['content-length'] ?? 0)
    if (bytes.length < start + length) return answers
    answers.push({ status, headers, body: bytes.toString('utf8', start, start + length) })
    from = start + length
  }
}
