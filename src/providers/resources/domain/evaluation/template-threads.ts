/**
 * Evaluates templates in threads of their own, so that no template holds up the server: each question has a time and
 * each thread a memory, and what exceeds them is refused. Principals have allowances of time, and whoever took least is
 * served first. Knows nothing of what templates mean.
 */

import { Worker } from 'node:worker_threads'
import { refuse } from '#kernel/error.ts'
import type { Clock } from '#kernel/ports.ts'
import { TemplateRefusal } from '#template/plan.ts'
import { type AllowanceRule, Allowances, defaultAllowance } from './allowances.ts'
import {
  type Answers,
  contextIn,
  type PlainContext,
  type Question,
  type Release,
  type Told,
} from './questions.ts'

interface ThreadLimits {
  readonly threadsMax: number
  /** Seconds for one question. */
  readonly seconds: number
  /** The memory of a thread. */
  readonly heapMegabytes: number
  /** The number of one principal's questions that may wait. */
  readonly waitingMax: number
}

export const defaultThreadLimits: ThreadLimits = {
  threadsMax: 2,
  seconds: 10,
  heapMegabytes: 128,
  waitingMax: 16,
}

/** Whose quota is used. What was accepted (`accepted`) waits until nothing is owed; a new request is refused. */
export interface Payer {
  readonly principalId: string
  readonly accepted: boolean
}

interface Answered<K extends keyof Answers> {
  readonly answer: Answers[K]
  /** The thread that answered: only it knows the plan. */
  readonly thread: Thread
}

interface Job {
  readonly question: Question
  readonly payer: Payer
  /** For this thread, or for any. */
  readonly thread: Thread | undefined
  resolve(answered: { answer: Answers[keyof Answers]; thread: Thread }): void
  reject(error: unknown): void
}

/** One thread while it lives. */
export class Thread {
  readonly worker: Worker
  job: Job | undefined
  startedAt = 0
  deadline: NodeJS.Timeout | undefined
  /** It has loaded its code. */
  isReady = false
  isGone = false
  /** What it was told last of what providers offer. */
  offers: PlainContext['offers']

  constructor(heapMegabytes: number) {
    const file = import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js'
    this.worker = new Worker(new URL(file, import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: 24 },
    })
    // It does not keep the process alive.
    this.worker.unref()
  }
}

export class TemplateThreads {
  readonly #clock: Clock
  readonly #limits: ThreadLimits
  readonly #allowances: Allowances
  readonly #threads = new Set<Thread>()
  readonly #waiting: Job[] = []
  #plans = 0
  #isClosed = false

  constructor(
    clock: Clock,
    limits = defaultThreadLimits,
    allowance: AllowanceRule = defaultAllowance,
  ) {
    this.#clock = clock
    this.#limits = limits
    this.#allowances = new Allowances(allowance)
  }

  /** A number that no earlier plan had. */
  nextPlan(): number {
    return ++this.#plans
  }

  /**
   * Throws `TemplateRefusal` for what fails, takes too long or too much memory; `TooManyRequests` when the
   * principal's quota is used up.
   */
  async ask<K extends keyof Answers>(
    question: Extract<Question, { readonly kind: K }>,
    payer: Payer,
    thread?: Thread,
  ): Promise<Answered<K>> {
    await this.#admit(payer)
    const { promise, resolve, reject } = Promise.withResolvers<{
      answer: Answers[keyof Answers]
      thread: Thread
    }>()
    this.#waiting.push({ question, payer, thread, resolve, reject })
    this.#dispatch()
    // A thread answers a question with the answer of its kind.
    return (await promise) as Answered<K>
  }

  /** Resolves when the principal owes nothing, so that a question need not wait for it. */
  async paid({ principalId }: Payer): Promise<void> {
    const wait = this.#allowances.wait(principalId, this.#clock.now())
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait).unref())
  }

  async #admit(payer: Payer): Promise<void> {
    const { principalId, accepted } = payer
    if (accepted) return this.paid(payer)
    const wait = this.#allowances.wait(principalId, this.#clock.now())
    const waiting = this.#waiting.filter(
      ({ payer }) => payer.principalId === principalId && !payer.accepted,
    )
    if (wait === 0 && waiting.length < this.#limits.waitingMax) return
    const seconds = Math.max(1, Math.ceil(wait / 1000))
    throw refuse.TooManyRequests(
      { kind: 'template evaluations', seconds },
      { headers: { 'Retry-After': String(seconds) } },
    )
  }

  /**
   * For the end of the process: what is under way or waits gets no answer any more, as if the process had been killed. It would
   * go on for minutes otherwise, since a question keeps the process alive.
   */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#waiting.length = 0
    for (const { deadline } of this.#threads) clearTimeout(deadline)
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()))
  }

  /** The plan is needed no more. One that is asked about all the same is made again. */
  release(plan: number, thread: Thread): void {
    if (!thread.isGone) thread.worker.postMessage({ kind: 'release', plan } satisfies Release)
  }

  #dispatch(): void {
    if (this.#isClosed) return
    for (const job of this.#waiting.filter(({ thread }) => thread?.isGone === true)) {
      this.#waiting.splice(this.#waiting.indexOf(job), 1)
      // For a thread that has ended: only late questions name one, and its plans are gone.
      job.resolve({ answer: { kind: 'gone' }, thread: job.thread as Thread })
    }
    for (const thread of this.#threads) if (thread.job === undefined) this.#give(thread)
    const isForAny = this.#waiting.some(({ thread }) => thread === undefined)
    if (isForAny && this.#threads.size < this.#limits.threadsMax) this.#give(this.#start())
  }

  /**
   * Gives an idle thread the question of the principal that used least, among those it may answer; among equals the
   * first.
   */
  #give(thread: Thread): void {
    const now = this.#clock.now()
    let best: Job | undefined
    let most = Number.NEGATIVE_INFINITY
    for (const job of this.#waiting) {
      if (job.thread !== undefined && job.thread !== thread) continue
      const left = this.#allowances.left(job.payer.principalId, now)
      if (left > most) [best, most] = [job, left]
    }
    if (best === undefined) return
    this.#waiting.splice(this.#waiting.indexOf(best), 1)
    thread.job = best
    thread.startedAt = now
    // The time of the first question counts once the code is loaded: that takes long on a busy machine.
    if (thread.isReady) this.#limitTime(thread)
    // A pending question keeps the process alive, as any work does.
    thread.worker.ref()
    thread.worker.postMessage(withoutKnownOffers(thread, best.question))
  }

  #limitTime(thread: Thread): void {
    const { seconds } = this.#limits
    thread.deadline = setTimeout(
      () =>
        this.#end(
          thread,
          refused(`its expressions take more than the ${seconds} seconds they have`),
        ),
      seconds * 1000,
    )
  }

  #start(): Thread {
    const thread = new Thread(this.#limits.heapMegabytes)
    this.#threads.add(thread)
    thread.worker.on('message', (told: Told) => this.#told(thread, told))
    thread.worker.on('error', (error: NodeJS.ErrnoException) => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      const { heapMegabytes } = this.#limits
      const memory = `its expressions take more than the ${heapMegabytes} MB of memory they have`
      this.#end(thread, isMemory ? refused(memory) : error)
    })
    return thread
  }

  #told(thread: Thread, told: Told): void {
    if (told.kind === 'ready') {
      thread.isReady = true
      if (thread.job !== undefined) this.#limitTime(thread)
      return
    }
    const job = this.#settle(thread)
    if (job === undefined) return
    if (told.kind === 'answer') job.resolve({ answer: told.answer, thread })
    else if (told.kind === 'refused') job.reject(new TemplateRefusal(told.problems))
    else job.reject(Object.assign(new Error(told.message), { stack: told.stack }))
    this.#dispatch()
  }

  #end(thread: Thread, error: Error): void {
    if (thread.isGone) return
    thread.isGone = true
    this.#threads.delete(thread)
    this.#settle(thread)?.reject(error)
    void thread.worker.terminate()
    this.#dispatch()
  }

  /** The question has ended in some way, and its time is charged. */
  #settle(thread: Thread): Job | undefined {
    const { job } = thread
    thread.job = undefined
    clearTimeout(thread.deadline)
    thread.worker.unref()
    if (job === undefined) return undefined
    const now = this.#clock.now()
    this.#allowances.take(job.payer.principalId, Math.max(0, now - thread.startedAt), now)
    return job
  }
}

/** Copying what providers offer into the thread takes longer than most questions: it is sent when it is another. */
function withoutKnownOffers(thread: Thread, sent: Question): Question {
  const context = contextIn(sent)
  if (context?.offers === undefined) return sent
  const isKnown = thread.offers === context.offers
  thread.offers = context.offers
  if (!isKnown) return sent
  const { offers: _, ...rest } = context
  if (sent.kind === 'expand') return { ...sent, context: rest }
  if (sent.kind !== 'late' || sent.again === undefined) return sent
  return { ...sent, again: { ...sent.again, context: rest } }
}

function refused(message: string): TemplateRefusal {
  return new TemplateRefusal([{ line: 0, column: 0, path: '', message }])
}
