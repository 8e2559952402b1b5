/**
 * Plays the far end of an exec: a web socket whose commands are a handful of words it knows. The commands are
 * `echo`, `cat`, `size`, `exit <code>`, `true`, `sleep` and `knock`; anything else cannot be run.
 */

import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { numberAt, parseJson } from '../../json.ts'
import { channels, execProtocols } from '../exec.ts'
import { encodeMessage, opcodes, readMessages } from '../web-socket.ts'

const webSocketKey = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

export async function playExec(request: IncomingMessage, socket: Duplex): Promise<void> {
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(/, */)
  const protocol = execProtocols.find((each) => offered.includes(each)) ?? ''
  const key = `${request.headers['sec-websocket-key']}${webSocketKey}`
  const accept = createHash('sha1').update(key).digest('base64')
  const head = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${accept}`,
    `Sec-WebSocket-Protocol: ${protocol}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  const send = (channel: number, text: string) => {
    const payload = Buffer.concat([Buffer.from([channel]), Buffer.from(text)])
    socket.write(encodeMessage(opcodes.binary, payload, false))
  }
  const end = (status: object) => {
    send(channels.status, JSON.stringify(status))
    socket.end(encodeMessage(opcodes.close, Buffer.from([0x03, 0xe8]), false))
  }
  const query = new URL(request.url ?? '/', 'http://double').searchParams
  const [command = '', ...words] = query.getAll('command')
  // A server opens each channel with an empty message, and asks now and then whether anybody is there.
  for (const channel of [channels.out, channels.error, channels.status]) send(channel, '')
  socket.write(encodeMessage(opcodes.ping, Buffer.from('there?'), false))
  if (command === 'echo') send(channels.out, `${words.join(' ')}\n`)
  if (command === 'exit') send(channels.error, 'going\n')
  if (command === 'cat' || command === 'size' || command === 'sleep' || command === 'knock') {
    for await (const { opcode, payload } of readMessages(
      socket.iterator({ destroyOnReturn: false }),
    )) {
      if (opcode === opcodes.pong && command === 'knock') {
        send(channels.out, `${payload}\n`)
        break
      }
      if (opcode !== opcodes.binary) continue
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
  if (!['echo', 'cat', 'size', 'sleep', 'exit', 'true', 'knock'].includes(command)) {
    end({ status: 'Failure', reason: 'InternalError', message: 'executable file not found' })
  } else if (code === '0') end({ status: 'Success' })
  else {
    const details = { causes: [{ reason: 'ExitCode', message: code }] }
    end({ status: 'Failure', reason: 'NonZeroExitCode', message: `code ${code}`, details })
  }
}
