/** Exec and attach over an upgraded connection, as the port's `Session`. */

import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { failureOfConnection } from '../answer.ts'
import { EngineError, type ExecRequest, type Session, type TerminalSize } from '../engine.ts'
import { at, type Json, numberAt, textAt } from '../json.ts'
import type { DockerClient } from './client.ts'
import { type OutputChunk, rawChunks, splitFrames } from './frames.ts'
import { inspectContainer } from './read-containers.ts'

/** The engine records an exit a moment after it closes the connection. */
const exitNoteAttemptsMax = 100
const exitNoteWaitMs = 20

const doing = 'run a command'

/** A command that has just begun may not have its terminal yet. */
const resizeAttemptsMax = 5
const resizeWaitMs = 20

/**
 * Starts `request` in a running container with additional environment. The engine is queried by the returned id. A
 * terminal has the engine's size until `resize` is called.
 */
export async function openExec(
  client: DockerClient,
  container: string,
  request: ExecRequest,
  environment: readonly string[],
): Promise<{ readonly id: string; readonly session: Session }> {
  const tty = request.terminal !== undefined
  const id = await makeExec(client, container, {
    AttachStdin: request.input ?? false,
    AttachStdout: true,
    AttachStderr: true,
    Tty: tty,
    Cmd: request.command,
    Env: environment,
  })
  const { socket, head } = await startAttached(client, id, tty)
  const session: Session = {
    output: outputOf(socket, head, tty),
    write: (bytes) => writeTo(socket, bytes, request.input ?? false),
    end: () => {
      socket.end()
    },
    resize: (size) => resize(client, id, tty ? size : undefined),
    exitCode: () => exitCodeOf(client, id),
    async [Symbol.asyncDispose]() {
      socket.destroy()
    },
  }
  return { id, session }
}

/**
 * Starts a command whose output the engine throws away. Its connection is for its input, and nothing is sent. Without a
 * connection, Podman would call it running until its monitor ends, which is five minutes after the command has ended.
 */
export async function startExec(
  client: DockerClient,
  container: string,
  command: readonly string[],
): Promise<AsyncDisposable & { readonly id: string }> {
  const id = await makeExec(client, container, { AttachStdin: true, Cmd: command })
  const { socket } = await startAttached(client, id, false)
  // An engine that cannot start the command says so here.
  socket.resume()
  return { id, [Symbol.asyncDispose]: async () => void socket.destroy() }
}

function startAttached(
  client: DockerClient,
  id: string,
  tty: boolean,
): ReturnType<DockerClient['upgrade']> {
  const body = { Detach: false, Tty: tty }
  return client.upgrade({ method: 'POST', path: `/exec/${id}/start`, body, doing })
}

async function makeExec(client: DockerClient, container: string, body: object): Promise<string> {
  const path = `/containers/${container}/exec`
  return textAt(await client.json({ method: 'POST', path, body, doing }), 'Id')
}

/** Follows the output of a container from now on. */
export async function openAttach(client: DockerClient, container: string): Promise<Session> {
  const { socket, head } = await client.upgrade({
    method: 'POST',
    path: `/containers/${container}/attach`,
    query: { stream: '1', stdout: '1', stderr: '1' },
    doing: 'attach',
  })
  return {
    output: outputOf(socket, head, false),
    write: (bytes) => writeTo(socket, bytes, false),
    end() {},
    async resize() {},
    async exitCode() {
      const state = at(await inspectContainer(client, container, { doing: 'attach' }), 'State')
      return at(state, 'Running') === true ? undefined : numberAt(state, 'ExitCode')
    },
    async [Symbol.asyncDispose]() {
      socket.destroy()
    },
  }
}

function outputOf(socket: Duplex, head: Buffer, tty: boolean): AsyncIterable<OutputChunk> {
  const bytes = bytesOf(socket, head)
  return tty ? rawChunks(bytes) : splitFrames(bytes)
}

async function* bytesOf(socket: Duplex, head: Buffer): AsyncIterable<Uint8Array> {
  if (head.length > 0) yield head
  try {
    // A socket without an encoding yields buffers.
    for await (const chunk of socket) yield chunk as Buffer
  } catch (cause) {
    throw failureOfConnection(cause, 'read the output')
  }
}

async function writeTo(socket: Duplex, bytes: Uint8Array, input: boolean): Promise<void> {
  if (!input) throw new EngineError('refused', 'this session takes no input')
  if (socket.destroyed) throw new EngineError('absent', 'the session has ended')
  // Writing to an ended socket fails it as a whole, including what is still to be read.
  if (socket.writableEnded) throw new EngineError('refused', 'the input of this session has ended')
  if (!socket.write(bytes)) await once(socket, 'drain')
}

/** An engine that refuses, because the command has ended, fails nothing: its output is still to be read. */
async function resize(
  client: DockerClient,
  id: string,
  size: TerminalSize | undefined,
): Promise<void> {
  if (size === undefined) return
  const call = {
    method: 'POST',
    path: `/exec/${id}/resize`,
    query: { h: String(size.rows), w: String(size.columns) },
    doing: 'resize the terminal',
  } as const
  for (let attempt = 0; attempt < resizeAttemptsMax; attempt++) {
    const [outcome] = await Promise.allSettled([client.json(call)])
    if (outcome.status === 'fulfilled') return
    const error: unknown = outcome.reason
    if (!(error instanceof EngineError)) throw error
    // Podman answers that it is at fault itself when the command ends meanwhile.
    if (error.kind === 'unavailable' && (await runsStill(client, id, 1))) throw error
    await sleep(resizeWaitMs)
  }
}

async function exitCodeOf(client: DockerClient, id: string): Promise<number> {
  for (let attempt = 0; attempt < exitNoteAttemptsMax; attempt++) {
    const state = await lookAtExec(client, id)
    const code = at(state, 'ExitCode')
    if (at(state, 'Running') === false && typeof code === 'number') return code
    await sleep(exitNoteWaitMs)
  }
  throw new EngineError('unavailable', 'the engine does not tell the exit code')
}

/**
 * Whether a command still runs, or has yet to begin: then it has no exit code. The engine records the end of a killed one a
 * moment later.
 */
export async function runsStill(
  client: DockerClient,
  id: string,
  attempts = exitNoteAttemptsMax,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const state = await lookAtExec(client, id)
    if (at(state, 'Running') !== true && typeof at(state, 'ExitCode') === 'number') return false
    if (attempt >= attempts) return true
    await sleep(exitNoteWaitMs)
  }
}

function lookAtExec(client: DockerClient, id: string): Promise<Json> {
  return client.json({ method: 'GET', path: `/exec/${id}/json`, doing: 'look at a command' })
}
