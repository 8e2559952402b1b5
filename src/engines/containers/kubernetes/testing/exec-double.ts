/**
 * Plays the far end of an exec: a web socket whose commands are a handful of words it knows. The commands are
 * `echo`, `cat`, `size`, `exit <code>`, `true`, `sleep`, `knock`, `fragments` and `huge`; anything else cannot be run.
 */

import { on, once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { numberAt, parseJson } from '../../json.ts'
import { channels, execProtocols } from '../exec.ts'

const server = new WebSocketServer({
  noServer: true,
  perMessageDeflate: false,
  handleProtocols: (offered) => execProtocols.find((each) => offered.has(each)) ?? false,
})

export async function playExec(request: IncomingMessage, connection: Duplex): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<WebSocket>()
  server.handleUpgrade(request, connection, Buffer.alloc(0), resolve)
  const socket = await promise
  const send = (channel: number, text: string) =>
    socket.send(Buffer.concat([Buffer.from([channel]), Buffer.from(text)]))
  const end = (status: object) => {
    send(channels.status, JSON.stringify(status))
    socket.close(1000)
  }
  const query = new URL(request.url ?? '/', 'http://double').searchParams
  const [command = '', ...words] = query.getAll('command')
  // A server opens each channel with an empty message, and pings now and then.
  for (const channel of [channels.out, channels.error, channels.status]) send(channel, '')
  socket.ping('there?')
  if (command === 'echo') send(channels.out, `${words.join(' ')}\n`)
  if (command === 'exit') send(channels.error, 'going\n')
  if (command === 'fragments') {
    socket.send(Buffer.from([channels.out, ...Buffer.from('one ')]), { fin: false })
    socket.send(Buffer.from('message'), { fin: true })
  }
  if (command === 'huge') send(channels.out, 'x'.repeat(17 * 1024 * 1024))
  if (command === 'chatter') {
    for (let sent = 0; sent < 100; sent++) send(channels.status, ' '.repeat(1024))
  }
  if (command === 'knock') {
    const [payload] = await once(socket, 'pong')
    send(channels.out, `${payload}\n`)
  }
  if (command === 'cat' || command === 'size' || command === 'sleep') {
    for await (const [message] of on(socket, 'message', { close: ['close'] })) {
      const payload: Buffer = message
      const text = payload.subarray(1).toString('utf8')
      if (payload[0] === channels.close) break
      if (payload[0] === channels.input) send(channels.out, text)
      if (payload[0] === channels.size) {
        const size = parseJson(text)
        send(channels.out, `${numberAt(size, 'Height')} ${numberAt(size, 'Width')}\n`)
        if (command === 'size') break
      }
    }
  }
  const code = command === 'exit' ? (words[0] ?? '0') : '0'
  if (
    ![
      'echo',
      'cat',
      'size',
      'sleep',
      'exit',
      'true',
      'knock',
      'fragments',
      'huge',
      'chatter',
    ].includes(command)
  ) {
    end({ status: 'Failure', reason: 'InternalError', message: 'executable file not found' })
  } else if (code === '0') end({ status: 'Success' })
  else {
    const details = { causes: [{ reason: 'ExitCode', message: code }] }
    end({ status: 'Failure', reason: 'NonZeroExitCode', message: `code ${code}`, details })
  }
}
