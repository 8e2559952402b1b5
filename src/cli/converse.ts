/**
 * Talks over a web socket as the server's streams want it: the password first, then standard input out and
 * everything that comes to standard output.
 */

import { LocalProblem } from './command.ts'
import type { Connection } from './context.ts'
import type { Terminal } from './terminal.ts'

const prefix = '/streams/'
/** Of one message; the server takes at most 64 KiB. */
const pieceBytes = 32 * 1024
const bufferedBytesMax = 256 * 1024
const bufferLookMilliseconds = 10

/**
 * Where the stream is, seen from here: on the installation that requests go to, whatever address it calls its
 * own, so that no password goes elsewhere.
 */
export function streamAddress({ running, url }: Connection, webSocketUri: string): string {
  const at = webSocketUri.lastIndexOf(prefix)
  if (at < 0) throw new LocalProblem('NoStream', `${webSocketUri} is no address of a stream.`)
  const origin = (running?.localUrl ?? url).replace(/\/$/, '')
  return `${origin.replace(/^http/, 'ws')}${webSocketUri.slice(at)}`
}

/** The exit code at the far end; 0 where there is none. Throws `LocalProblem` when it ends otherwise. */
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
  // What is to say about an error, `close` says.
  socket.addEventListener('error', () => {})
  socket.addEventListener('message', ({ data }) => {
    // The server sends bytes only, and they come as was asked for.
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
  // An empty message is the end of the input.
  if (bytes === undefined) socket.send('')
  for (let at = 0; at < (bytes?.length ?? 0); at += pieceBytes) {
    socket.send(Uint8Array.from(bytes?.subarray(at, at + pieceBytes) ?? []))
  }
  while (socket.readyState === WebSocket.OPEN && socket.bufferedAmount > bufferedBytesMax) {
    await new Promise((resolve) => setTimeout(resolve, bufferLookMilliseconds))
  }
}
