/**
 * Commands that run in a container beside its own. The engine's API has no word that ends one: to close its connection only
 * lets go of it. Each carries a mark in its environment, by which a second command in the container finds it and what it
 * began. Where there is no shell to do that the command goes on, and counts until it has ended: nobody gets
 * ever more of them by closing connections.
 */

import { randomBytes } from 'node:crypto'
import { EngineError, type ExecRequest, type Session } from '../engine.ts'
import type { DockerClient } from './client.ts'
import { openExec, runsStill } from './session.ts'

/** Commands of one container that could not be ended. */
const leftMax = 20
const mark = 'ARMATURE_EXEC'

/** A process may be begun while the others are looked through, so they are looked through again. */
const killScript = `
for round in 1 2 3; do
  for process in /proc/[0-9]*; do
    case "$(cat "$process/environ" 2>/dev/null)" in
      *"$0"*) kill -KILL "\${process#/proc/}";;
    esac
  done
done 2>/dev/null
exit 0`

export class Executions {
  readonly #client: DockerClient
  /** Of each container: the commands that went on after their connection was closed. */
  readonly #left = new Map<string, Set<string>>()

  constructor(client: DockerClient) {
    this.#client = client
  }

  async open(container: string, request: ExecRequest): Promise<Session> {
    await this.#requireRoom(container)
    const value = `${mark}=${randomBytes(8).toString('hex')}`
    const { id, session } = await openExec(this.#client, container, request, [value])
    return {
      ...session,
      [Symbol.asyncDispose]: async () => {
        await session[Symbol.asyncDispose]()
        await this.#end(container, id, value)
      },
    }
  }

  async #end(container: string, id: string, value: string): Promise<void> {
    if (!(await this.#goesOn(id, 1))) return
    const isKilled = await this.#kill(container, value)
    if (isKilled && !(await this.#goesOn(id))) return
    const left = this.#left.get(container) ?? new Set()
    this.#left.set(container, left.add(id))
  }

  /** False where the container has no shell to do it. */
  async #kill(container: string, value: string): Promise<boolean> {
    const request = { command: ['sh', '-c', killScript, value] }
    const done = await this.#unlessRefused(async () => {
      const { session } = await openExec(this.#client, container, request, [])
      await using _ = session
      for await (const _ of session.output);
      return session.exitCode()
    })
    return done === 0
  }

  async #requireRoom(container: string): Promise<void> {
    const left = this.#left.get(container)
    if (left === undefined || left.size < leftMax) return
    for (const id of left) if (!(await this.#goesOn(id, 1))) left.delete(id)
    if (left.size === 0) this.#left.delete(container)
    if (left.size >= leftMax) {
      throw new EngineError('busy', `${leftMax} commands of the container go on without a client`)
    }
  }

  /** Not when the container is gone. */
  async #goesOn(id: string, attempts?: number): Promise<boolean> {
    return (await this.#unlessRefused(() => runsStill(this.#client, id, attempts))) === true
  }

  /** What the engine does not do: the container has ended, or has no such program. */
  async #unlessRefused<T>(ask: () => Promise<T>): Promise<T | undefined> {
    const [outcome] = await Promise.allSettled([ask()])
    if (outcome.status === 'fulfilled') return outcome.value
    const error: unknown = outcome.reason
    if (error instanceof EngineError && error.kind !== 'unavailable') return undefined
    throw error
  }
}
