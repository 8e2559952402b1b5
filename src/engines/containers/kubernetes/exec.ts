/**
 * Runs a command in a container over a web socket, as the port's `Session`. The first byte of each message
 * names its channel. Nothing is buffered: what is not read waits in the connection.
 */

import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { failureOfConnection } from '../answer.ts'
import { EngineError, type ExecRequest, type Session } from '../engine.ts'
import { listAt, parseJson, textAt } from '../json.ts'
import type { KubernetesClient } from './client.ts'
import { encodeMessage, opcodes, readMessages } from './web-socket.ts'

export const channels = { input: 0, out: 1, error: 2, status: 3, size: 4, close: 255 } as const

/** The newer one can tell the end of the input, the older one cannot. */
export const execProtocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const

const doing = 'run a command'

export async function openExec(
  client: KubernetesClient,
  pod: string,
  container: string,
  request: ExecRequest,
): Promise<Session> {
  const tty = request.terminal !== undefined
  const input = request.input === true
  const { socket, head, protocol } = await client.upgrade({
    method: 'GET',
    path: client.path('pods', pod, 'exec'),
    query: [
      ['container', container],
      ['stdin', String(input)],
      ['stdout', 'true'],
      // A terminal has one stream.
      ['stderr', String(!tty)],
      ['tty', String(tty)],
      ...request.command.map((word): [string, string] => ['command', word]),
    ],
    protocols: execProtocols,
    doing,
  })
  const send = async (channel: number, bytes: Uint8Array) => {
    if (socket.destroyed) throw new EngineError('absent', 'the session has ended')
    const payload = Buffer.concat([Buffer.from([channel]), bytes])
    const written = socket.write(encodeMessage(opcodes.binary, payload, true))
    if (!written) await once(socket, 'drain')
  }
  let status: string | undefined
  const session: Session = {
    output: outputOf(socket, head, (text) => {
      status = text
    }),
    async write(bytes) {
      if (!input) throw new EngineError('refused', 'this session takes no input')
      await send(channels.input, bytes)
    },
    end() {
      if (!input || socket.destroyed || protocol !== execProtocols[0]) return
      const payload = Buffer.from([channels.close, channels.input])
      socket.write(encodeMessage(opcodes.binary, payload, true))
    },
    async resize(size) {
      if (!tty) return
      const told = { Width: size.columns, Height: size.rows }
      await send(channels.size, Buffer.from(JSON.stringify(told)))
    },
    exitCode: async () => exitCodeOf(status),
    async [Symbol.asyncDispose]() {
      socket.destroy()
    },
  }
  if (request.terminal !== undefined) await session.resize(request.terminal)
  return session
}

async function* outputOf(
  socket: Duplex,
  head: Buffer,
  onStatus: (text: string) => void,
): Session['output'] {
  let status = ''
  try {
    for await (const { opcode, payload } of readMessages(bytesOf(socket, head))) {
      if (opcode === opcodes.ping) socket.write(encodeMessage(opcodes.pong, payload, true))
      if (opcode === opcodes.close) break
      if (opcode !== opcodes.binary || payload.length < 2) continue
      const bytes = payload.subarray(1)
      if (payload[0] === channels.out) yield { stream: 'out', bytes }
      else if (payload[0] === channels.error) yield { stream: 'error', bytes }
      else if (payload[0] === channels.status) {
        status += bytes.toString('utf8')
        onStatus(status)
      }
    }
  } catch (cause) {
    throw failureOfConnection(cause, 'read the output')
  } finally {
    socket.destroy()
  }
}

async function* bytesOf(socket: Duplex, head: Buffer): AsyncIterable<Uint8Array> {
  if (head.length > 0) yield head
  // A socket without an encoding yields buffers.
  for await (const chunk of socket) yield chunk as Buffer
}

/** The last channel's word on how the command ended. */
function exitCodeOf(text: string | undefined): number {
  if (text === undefined) {
    throw new EngineError('unavailable', `${doing}: the cluster does not tell the exit code`)
  }
  const status = parseJson(text)
  if (textAt(status, 'status') === 'Success') return 0
  const cause = listAt(status, 'details', 'causes').find(
    (each) => textAt(each, 'reason') === 'ExitCode',
  )
  const code = Number(textAt(cause, 'message'))
  if (cause !== undefined && Number.isInteger(code)) return code
  throw new EngineError('refused', `${doing}: ${textAt(status, 'message')}`)
}
