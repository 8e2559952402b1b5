/**
 * `exec` and `attach`: the answer names a web socket and a password, each good once (facts 4.1); the process is
 * started, or followed, when the client has come with both. The right is asked for again while the socket is open.
 */

import Type from 'typebox'
import type { ContainerEngine, Session } from '#engines/containers/engine.ts'
import { refuse } from '#kernel/error.ts'
import { scopeOf } from '#kernel/resource-id.ts'
import type { Action, ActionContext, ActionOutcome } from '#plane/declare/action.ts'
import type { Streams } from '../../../dependencies.ts'
import { attempt } from '../../../domain/engine-failure.ts'
import type { CommandPace } from '../../../domain/groups/command-pace.ts'
import { refuseContainer } from '../../../errors.ts'
import { addressedContainer } from './addressed.ts'
import { splitCommand } from './split-command.ts'

export interface StreamDependencies {
  readonly engine: ContainerEngine
  readonly streams: Streams | undefined
  readonly pace: CommandPace
}

interface ExecBody {
  readonly command: string
  readonly terminalSize?: { readonly rows?: number; readonly cols?: number }
}

const answer = Type.Object({
  webSocketUri: Type.String({ description: 'Good once, for a minute.' }),
  password: Type.String({ description: 'The first message to send.' }),
})
const length = Type.Integer({ minimum: 1, maximum: 10_000 })
const usual = { rows: 24, cols: 80 }

export function execIn(deps: StreamDependencies): Action<unknown> {
  return {
    method: 'POST',
    description: 'Runs a command in a container, over a web socket.',
    body: Type.Object({
      command: Type.String({
        minLength: 1,
        maxLength: 10_000,
        description: 'Words parted by blanks; quotes keep blanks together. No shell reads it.',
      }),
      terminalSize: Type.Optional(
        Type.Object(
          { rows: Type.Optional(length), cols: Type.Optional(length) },
          { description: 'Left out, there is no terminal.' },
        ),
      ),
    }),
    answer,
    async run(context, { command, terminalSize }: ExecBody) {
      const words = splitCommand(command)
      if (typeof words === 'string') throw refuseContainer.InvalidCommand({ reason: words })
      const { rows, cols } = { ...usual, ...terminalSize }
      const group = scopeOf(context.id).key
      const request = {
        command: words,
        input: true,
        turn: () => deps.pace.turn(group),
        ...(terminalSize === undefined ? {} : { terminal: { rows, columns: cols } }),
      }
      // Before the answer, and not when the client comes: then its right is asked for and the command begins at once.
      const turn = () => deps.pace.turn(group, context.signal)
      return offer(deps, context, (token, name) => deps.engine.exec(token, name, request), turn)
    },
  }
}

export function attachTo(deps: StreamDependencies): Action<unknown> {
  return {
    method: 'POST',
    description: 'Follows what a container writes, over a web socket.',
    answer,
    run: (context) =>
      offer(deps, context, async (token, name) => {
        const session = await deps.engine.attach(token, name)
        return {
          output: session.output,
          // A container takes no input here; input of a client is ignored.
          write: async () => {},
          end: () => {},
          resize: (size) => session.resize(size),
          exitCode: () => session.exitCode(),
          [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
        }
      }),
  }
}

async function offer(
  { engine, streams }: StreamDependencies,
  { id, reader, permission, publicUrl }: ActionContext<unknown>,
  open: (token: string, name: string) => Promise<Session>,
  turn?: () => Promise<void>,
): Promise<ActionOutcome<unknown>> {
  const { token, name } = await addressedContainer({ id, reader })
  if (streams === undefined || permission === undefined) {
    throw refuse.ServiceUnavailable({ reason: 'this installation carries no streams' })
  }
  const seen = await attempt(() => engine.observe(token))
  if (!seen.ok) throw refuse.ServiceUnavailable({ reason: seen.failure.message })
  const part = seen.value.parts.find((one) => one.name === name)
  if (part?.state.kind !== 'running') throw refuseContainer.ContainerNotRunning({ name })
  await turn?.()
  return { status: 200, body: streams.offer(() => open(token, name), permission, publicUrl) }
}
