/**
 * Commands that run in a container beside its own. The engine's API has no word that ends one: to close its connection only
 * lets go of it. Each carries a mark in its environment, by which a second command in the container finds it and what it
 * began. That one is the container's own shell, and may do anything or nothing: nobody waits for it, nothing of it is
 * read, and it counts as any other. What goes on without a client counts until it has ended, so nobody gets ever more of
 * them by closing connections.
 */

import { randomBytes } from 'node:crypto'
import { EngineError, type ExecRequest, type Session } from '../engine.ts'
import { type DockerClient, noAnswerInTime } from './client.ts'
import { openExec, runsStill, startExec } from './session.ts'

/** Commands of one container that could not be ended. */
const leftMax = 20
/**
 * The number of containers with such commands that are remembered. When there are more, the oldest one is checked
 * with each new one.
 */
const containersMax = 100
const mark = 'ARMATURE_EXEC'

/** The processes are searched repeatedly, because one may start another during the search. */
const killScript = `
for round in 1 2 3; do
  for process in /proc/[0-9]*; do
    case "$(cat "$process/environ" 2>/dev/null)" in
      *"$0"*) kill -KILL "\${process#/proc/}";;
    esac
  done
done 2>/dev/null
exit 0`

/** How long a container is left alone after the engine gave no answer for a command in it. */
const leftAloneMilliseconds = 600_000

/** How long the end of a process waits for kills. */
const settleMilliseconds = 3000

export class Executions {
  readonly #client: DockerClient
  /** Containers for which the engine gave no answer: each further call would wait in it as well, and never leave. */
  readonly #unanswered = new Set<string>()
  /** The commands of each container that continued after their connection was closed. */
  readonly #left = new Map<string, Set<string>>()
  /** Kills in progress. */
  readonly #ending = new Set<Promise<void>>()

  constructor(client: DockerClient) {
    this.#client = client
  }

  async open(container: string, request: ExecRequest): Promise<Session> {
    await this.#requireRoom(container)
    const value = `${mark}=${randomBytes(8).toString('hex')}`
    const { id, session } = await this.#begun(container, () =>
      openExec(this.#client, container, request, [value]),
    )
    await using opening = new AsyncDisposableStack()
    const opened = opening.use({
      ...session,
      [Symbol.asyncDispose]: async () => {
        await session[Symbol.asyncDispose]()
        this.#begin(this.#end(container, id, value, request.turn))
      },
    })
    if (request.terminal !== undefined) await opened.resize(request.terminal)
    opening.move()
    return opened
  }

  /** Begins a command, unless an earlier one of the container has had no answer. */
  async #begun<T>(container: string, begin: () => Promise<T>): Promise<T> {
    if (this.#unanswered.has(container)) {
      const reason = 'the engine gave no answer for this container, which is left alone for a while'
      throw new EngineError('unavailable', reason)
    }
    const [outcome] = await Promise.allSettled([begin()])
    if (outcome.status === 'fulfilled') return outcome.value
    const error: unknown = outcome.reason
    if (error instanceof EngineError && error.message.endsWith(noAnswerInTime)) {
      this.#unanswered.add(container)
      setTimeout(() => this.#unanswered.delete(container), leftAloneMilliseconds).unref()
    }
    throw error
  }

  /** Resolves when no kill is in progress. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#ending)
  }

  /** The same, or a while later: an engine that a program holds gives no answer for minutes. */
  async mostlySettled(): Promise<void> {
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, settleMilliseconds)
    await Promise.race([this.settled(), late.promise])
    clearTimeout(timer)
  }

  #begin(end: Promise<void>): void {
    const ended = Promise.allSettled([end]).then(() => {
      this.#ending.delete(ended)
    })
    this.#ending.add(ended)
  }

  /** Counted before anything is awaited. */
  async #end(
    container: string,
    id: string,
    value: string,
    turn: ExecRequest['turn'],
  ): Promise<void> {
    this.#count(container, id)
    if (await this.#goesOn(id, 1)) {
      await turn?.()
      await this.#kill(container, value)
    }
    await this.#forgetEnded(container)
  }

  #count(container: string, id: string): void {
    const left = this.#left.get(container) ?? new Set()
    this.#left.set(container, left.add(id))
  }

  /** Gives up when the container has no working shell. */
  async #kill(container: string, value: string): Promise<void> {
    const command = ['sh', '-c', killScript, value]
    const started = await this.#unlessRefused(() =>
      this.#begun(container, () => startExec(this.#client, container, command)),
    )
    if (started === undefined) return
    await using _ = started
    this.#count(container, started.id)
    await this.#goesOn(started.id)
  }

  async #requireRoom(container: string): Promise<void> {
    if ((this.#left.get(container)?.size ?? 0) < leftMax) return
    await this.#forgetEnded(container)
    if ((this.#left.get(container)?.size ?? 0) < leftMax) return
    throw new EngineError('busy', `${leftMax} commands of the container go on without a client`)
  }

  async #forgetEnded(container: string): Promise<void> {
    await this.#look(container)
    // Commands of removed containers are never checked again otherwise.
    const [oldest] = this.#left.keys()
    if (this.#left.size > containersMax && oldest !== undefined) await this.#look(oldest)
  }

  async #look(container: string): Promise<void> {
    const left = this.#left.get(container)
    for (const id of [...(left ?? [])]) if (!(await this.#goesOn(id, 1))) left?.delete(id)
    // Meanwhile another call may have removed this set, and a new command may have begun another.
    if (left === undefined || this.#left.get(container) !== left) return
    // It becomes the newest, so that each has its turn.
    this.#left.delete(container)
    if (left.size > 0) this.#left.set(container, left)
  }

  /** False when the container is gone. */
  async #goesOn(id: string, attempts?: number): Promise<boolean> {
    return (await this.#unlessRefused(() => runsStill(this.#client, id, attempts))) === true
  }

  /** Undefined when the engine refuses: the container has ended, or has no such program. */
  async #unlessRefused<T>(ask: () => Promise<T>): Promise<T | undefined> {
    const [outcome] = await Promise.allSettled([ask()])
    if (outcome.status === 'fulfilled') return outcome.value
    const error: unknown = outcome.reason
    if (error instanceof EngineError && error.kind !== 'unavailable') return undefined
    throw error
  }
}
