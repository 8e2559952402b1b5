/** The connection to a shell over a web socket: the password first, then bytes in both directions. */

import { apiUrl } from '../../api/place.ts'
import { shellTexts } from '../../texts/work.ts'

const prefix = '/streams/'
/** The largest message. The server takes at most 64 KiB. */
const pieceBytes = 32 * 1024
/** With replicas, the shell waits at one of them, and the next connection may reach another one. */
const triesMax = 10
const tryAgainAfter = 100
/** Bytes that were received and not yet drawn. A browser cannot make a socket wait. */
const waitingBytesMax = 16 * 1024 * 1024

export interface ShellSession {
  write(bytes: Uint8Array<ArrayBuffer>): void
  close(): void
}

interface Listener {
  readonly onOpen: () => void
  /** `onBytes` calls `drawn` when the bytes are on the screen. */
  readonly onBytes: (bytes: Uint8Array, drawn: () => void) => void
  readonly onEnd: (reason: string) => void
}

export function openShellSession(
  offer: { readonly webSocketUri: string; readonly password: string },
  { onOpen, onBytes, onEnd }: Listener,
): ShellSession {
  // Always at this installation, whatever address the answer names: the password is sent to no other host.
  const address = apiUrl(offer.webSocketUri.slice(offer.webSocketUri.lastIndexOf(prefix)))
  address.protocol = address.protocol.replace('http', 'ws')
  let socket: WebSocket
  let tries = 0
  let waiting = 0
  let ownReason: string | undefined

  function close(reason: string): void {
    ownReason ??= reason
    socket.close()
  }

  function connect(): void {
    let opened = false
    tries += 1
    socket = new WebSocket(address)
    socket.binaryType = 'arraybuffer'
    socket.addEventListener('open', () => {
      opened = true
      socket.send(offer.password)
      onOpen()
    })
    socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer>) => {
      waiting += data.byteLength
      if (waiting > waitingBytesMax) return close(shellTexts.tooMuch)
      onBytes(new Uint8Array(data), () => {
        waiting -= data.byteLength
      })
    })
    socket.addEventListener('close', ({ code, reason }) => {
      if (!opened && ownReason === undefined && tries < triesMax) {
        setTimeout(connect, tryAgainAfter)
        return
      }
      const unnamed = opened ? shellTexts.broken(code) : shellTexts.unreachable
      onEnd(ownReason ?? (reason === '' ? unnamed : reason))
    })
  }
  connect()
  return {
    write(bytes) {
      if (socket.readyState !== WebSocket.OPEN) return
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        socket.send(bytes.subarray(at, at + pieceBytes))
      }
    },
    close: () => close(shellTexts.closed),
  }
}
