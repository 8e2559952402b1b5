/**
 * Speaks the protocol of the server's streams over a web socket: the password first, then standard input out, and
 * everything that arrives to standard output.
 */

import { LocalProblem } from './command.ts'
import type { Connection } from './context.ts'
import type { Terminal } from './terminal.ts'

const prefix = '/streams/'
/** The size of one message; the server accepts at most 64 KiB. */
const pieceBytes = 32 * 1024
const bufferedBytesMax = 256 * 1024
const bufferLookMilliseconds = 10

/**
 * The stream's address on the installation that requests go to, whatever address the installation calls its own.
 * The password goes nowhere else.
 */
export function streamAddress({ running, url }: Connection, webSocketUri: string): string {
  const at = webSocketUri.lastIndexOf(prefix)
  if (at < 0) throw new LocalProblem('NoStream', `${webSocketUri} is no address of a stream.`)
  const origin = (running?.localUrl ?? url).replace(/\/$/, '')
  return `${origin.replace(/^http/, 'ws')}${webSocketUri.slice(at)}`
}

/**
 * Returns the exit code of the remote command; 0 when there is none. Throws `LocalProblem` when the stream ends
 * otherwise.
 */
export async function converse(
  address: string,
  password: string,
  terminal: Terminal,
): Promise<number> {
  const socket = new WebSocket(address)
  socket.binaryType = 'arraybuffer'
  let stop: () => void = () => {}
  const { promise, resolve } = Promise.withResolvers<{ code: number; reason: string }>()
  socket.addEventListener('close', ({ code, reason }) => resolve({ code, reason }))
  // The `close` event reports the error.
  socket.addEventListener('error', () => {})
  socket.addEventListener('message', ({ data }) => {
    // The server sends only bytes, in the requested form.
    terminal.out(new Uint8Array(data as ArrayBuffer))
  })
  socket.addEventListener('open', () => {
    socket.send(password)
    stop = terminal.listen((bytes) => send(socket, bytes))
  })
  const { code, reason } = await promise
  stop()
  const exit = /^exit code (\d+)$/.exec(reason)?.[1]
  if (exit !== undefined) return Number(exit)
  if (code === 1000) return 0
  throw new LocalProblem('StreamBroken', `The stream broke: ${reason === '' ? code : reason}.`)
}

async function send(socket: WebSocket, bytes: Uint8Array | undefined): Promise<void> {
  if (socket.readyState !== WebSocket.OPEN) return
  // An empty message ends the input.
  if (bytes === undefined) socket.send('')
  for (let at = 0; at < (bytes?.length ?? 0); at += pieceBytes) {
    socket.send(Uint8Array.from(bytes?.subarray(at, at + pieceBytes) ?? []))
  }
  while (socket.readyState === WebSocket.OPEN && socket.bufferedAmount > bufferedBytesMax) {
    await new Promise((resolve) => setTimeout(resolve, bufferLookMilliseconds))
  }
}
