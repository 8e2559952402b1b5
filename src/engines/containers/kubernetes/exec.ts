/**
 * Runs a command in a container over a web socket, as the port's `Session`. The first byte of each message names
 * its channel. Nothing is buffered: unread data waits in the connection.
 */

import type { Readable } from 'node:stream'
import { failureOfConnection } from '../answer.ts'
import { EngineError, type ExecRequest, type Session } from '../engine.ts'
import { listAt, parseJson, textAt } from '../json.ts'
import type { KubernetesClient } from './client.ts'

export const channels = { input: 0, out: 1, error: 2, status: 3, size: 4, close: 255 } as const

/** The newer protocol can end the input; the older one cannot. */
export const execProtocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const

const doing = 'run a command'
/** Of a report how a command ended. */
const statusCharactersMax = 64 * 1024

export async function openExec(
  client: KubernetesClient,
  pod: string,
  container: string,
  request: ExecRequest,
): Promise<Session> {
  const tty = request.terminal !== undefined
  const input = request.input === true
  const { socket, messages } = await client.webSocket({
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
  const send = (channel: number, bytes: Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      const payload = Buffer.concat([Buffer.from([channel]), bytes])
      socket.send(payload, (failure) => {
        if (failure == null) resolve()
        else reject(new EngineError('absent', 'the session has ended'))
      })
    })
  let status: string | undefined
  let isInputEnded = false
  const session: Session = {
    output: outputOf(messages, (text) => {
      status = text
    }),
    async write(bytes) {
      if (!input) throw new EngineError('refused', 'this session takes no input')
      if (isInputEnded) throw new EngineError('refused', 'the input of this session has ended')
      await send(channels.input, bytes)
    },
    end() {
      isInputEnded = true
      if (!input || socket.protocol !== execProtocols[0]) return
      // A session that has ended takes no more input.
      send(channels.close, Buffer.from([channels.input])).catch(() => {})
    },
    async resize(size) {
      if (!tty) return
      const dimensions = { Width: size.columns, Height: size.rows }
      // Of a command that has ended, the output is still to be read.
      await Promise.allSettled([send(channels.size, Buffer.from(JSON.stringify(dimensions)))])
    },
    exitCode: async () => exitCodeOf(status),
    async [Symbol.asyncDispose]() {
      socket.terminate()
    },
  }
  await using opening = new AsyncDisposableStack()
  opening.use(session)
  if (request.terminal !== undefined) await session.resize(request.terminal)
  opening.move()
  return session
}

async function* outputOf(messages: Readable, onStatus: (text: string) => void): Session['output'] {
  let status = ''
  try {
    for await (const message of messages) {
      // A text message names no channel, and an empty one only opens its channel.
      if (!Buffer.isBuffer(message) || message.length < 2) continue
      const bytes = message.subarray(1)
      if (message[0] === channels.out) yield { stream: 'out', bytes }
      else if (message[0] === channels.error) yield { stream: 'error', bytes }
      else if (message[0] === channels.status) {
        status = (status + bytes.toString('utf8')).slice(0, statusCharactersMax)
        onStatus(status)
      }
    }
  } catch (cause) {
    throw failureOfConnection(cause, 'read the output')
  } finally {
    messages.destroy()
  }
}

/** The last channel reports how the command ended. */
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
