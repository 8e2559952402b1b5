/**
 * `$batch`: many requests in one, as JSON or as multipart/mixed, with change sets that happen wholly or not at all
 * and references from one request to what an earlier one made. It answers no request itself.
 */

import { refuse as commonRefuse } from '#kernel/error.ts'
import type { SqlReads, SqlTx } from '#stores/store.ts'
import { refuse } from '../errors.ts'
import { type BusinessAnswer, type BusinessRequest, jsonHeaders, type Reads } from '../message.ts'
import { isBatchPath } from './address.ts'
import {
  type BatchPart,
  boundaryOf,
  type PartAnswer,
  readJsonBatch,
  readMultipartBatch,
  writeJsonBatch,
  writeMultipartBatch,
} from './batch-parts.ts'
import { Budget } from './budget.ts'
import { createListRoom, largeBodyOf } from './large-json.ts'

/** What the answer to a request of a batch is made with. */
export interface BatchedPart {
  /** The transaction of an atomic group: everything is read and written in it, and nothing is committed. */
  readonly within: SqlTx | undefined
  /** What a reading request reads from, if not the store. */
  readonly reads: Reads | undefined
  /** The bound of its answer. */
  readonly budget: Budget
}

/** Answers the requests of a batch. */
export interface BatchRunner {
  /** Answers one request. A refusal is an answer too, so this rejects only with failures and bugs. */
  serve(request: BusinessRequest, part: BatchedPart): Promise<BusinessAnswer>
  /**
   * Runs `work` for these parts in one transaction, which is rolled back when it throws. It may run more than once.
   */
  atomically<T>(parts: readonly BatchPart[], work: (tx: SqlTx) => Promise<T>): Promise<T>
  /** Runs `work`, which only reads, on one snapshot of the store. It may run more than once. */
  snapshot<T>(work: (reads: SqlReads) => Promise<T>): Promise<T>
}

/**
 * Answers a batch. Malformed as a whole it is refused with an `ApiError`; a part that is refused is an answer. Without
 * `Prefer: odata.continue-on-error` the first refusal ends it, and what follows is missing from the answer; with
 * `Isolation: snapshot` all parts are one transaction (business facts 10.2).
 */
export async function answerBatch(
  request: BusinessRequest,
  runner: BatchRunner,
  publicUrl: string,
): Promise<BusinessAnswer> {
  const { method, headers, body = new Uint8Array() } = request
  if (method !== 'POST') throw refuse.BadRequest_MethodNotAllowed({ method, allow: 'POST' })
  const type = headers['content-type'] ?? ''
  const prefer = headers['prefer'] ?? ''
  const goesOn = /(?:^|[\s,;])(?:odata\.)?continue-on-error(?!\s*=\s*false)/i.test(prefer)
  const isJson = /^application\/json/i.test(type)
  if (!isJson && !/^multipart\/mixed/i.test(type)) {
    throw commonRefuse.UnsupportedMediaType({ type: type.slice(0, 60) })
  }
  const parts = isJson
    ? await readJsonBatch(body)
    : await readMultipartBatch(body, boundaryOf(type))
  request.admit?.(countsOf(parts))
  const whole = /^(?:odata\.)?snapshot$/i.test(
    headers['isolation'] ?? headers['odata-isolation'] ?? '',
  )
  const run = new BatchRun(request, runner, publicUrl, { goesOn, requests: parts.length })
  const answers = whole ? await run.together(parts) : await run.all(parts)
  const shared = { 'OData-Version': '4.0' }
  if (isJson) return { status: 200, headers: jsonHeaders, body: writeJsonBatch(answers) }
  const boundary = `batchresponse_${request.correlationId.replace(/[^\w-]/g, '')}`
  const contentType = { 'Content-Type': `multipart/mixed; boundary=${boundary}` }
  return {
    status: 200,
    headers: { ...contentType, ...shared },
    body: writeMultipartBatch(answers, boundary),
  }
}

/** A batch counts as the requests in it. */
function countsOf(parts: readonly BatchPart[]): Record<'reads' | 'writes' | 'deletes', number> {
  const counts = { reads: 0, writes: 0, deletes: 0 }
  for (const { method } of parts) {
    if (method === 'GET') counts.reads++
    else if (method === 'DELETE') counts.deletes++
    else counts.writes++
  }
  return counts
}

/** Ends a transaction whose answers are known and whose writes must not stay. */
class RolledBack extends Error {
  readonly answers: readonly PartAnswer[]
  constructor(answers: readonly PartAnswer[]) {
    super('A part of an atomic group was refused.')
    this.answers = answers
  }
}

class BatchRun {
  readonly #outer: BusinessRequest
  readonly #runner: BatchRunner
  readonly #publicUrl: string
  readonly #goesOn: boolean
  /** By id: the address of what the part made or named, relative to the version, and its tag. */
  #made = new Map<string, { readonly address: string; readonly etag: string | undefined }>()
  /** Ids and groups that were refused. */
  #failed = new Set<string>()
  /** The budget of all answers together. */
  readonly #budget = Budget.ofAnswer()
  /** The number of requests not answered yet. */
  #behind: number

  constructor(
    outer: BusinessRequest,
    runner: BatchRunner,
    publicUrl: string,
    how: { readonly goesOn: boolean; readonly requests: number },
  ) {
    this.#outer = outer
    this.#runner = runner
    this.#publicUrl = publicUrl
    this.#goesOn = how.goesOn
    this.#behind = how.requests
  }

  async all(parts: readonly BatchPart[]): Promise<readonly PartAnswer[]> {
    const answers: PartAnswer[] = []
    for (let at = 0; at < parts.length; ) {
      const { group } = parts[at] as BatchPart // at < length
      let to = at + 1
      while (group !== undefined && parts[to]?.group === group) to++
      const some = parts.slice(at, to)
      const given =
        group === undefined ? await this.#each(some, {}, this.#budget) : await this.#group(some)
      answers.push(...given)
      const refused = given.some(({ answer }) => answer.status >= 400)
      if (refused && group !== undefined) this.#failed.add(group)
      if (refused && !this.#goesOn) break
      at = to
    }
    return answers
  }

  /** A change set as OData has it: where nothing stays, nothing is told to be done. */
  async #group(parts: readonly BatchPart[]): Promise<readonly PartAnswer[]> {
    const answers = await this.together(parts)
    if (answers.every(({ answer }) => answer.status < 400)) return answers
    return answers.map(({ part, answer }) => {
      if (answer.status >= 400 || part.method === 'GET') return { part, answer }
      this.#failed.add(part.id)
      const undone = refused(424, 'BadRequest', 'Another request of its group was refused.')
      return { part, answer: undone }
    })
  }

  /** All in one transaction. When one is refused nothing stays, and the answers are still returned. */
  async together(given: readonly BatchPart[]): Promise<readonly PartAnswer[]> {
    // In a transaction only its own statements may be awaited, so large bodies are read before.
    const room = createListRoom()
    const parts: BatchPart[] = []
    for (const one of given) parts.push({ ...one, json: await largeBodyOf(one, room) })
    const [made, failed, behind] = [this.#made, this.#failed, this.#behind]
    // The work may run again after a lost race, so it starts from what was known before.
    const begin = (): void => {
      this.#made = new Map(made)
      this.#failed = new Set(failed)
      this.#behind = behind
    }
    try {
      if (parts.every(({ method }) => method === 'GET')) {
        return await this.#runner.snapshot((reads) => {
          begin()
          return this.#each(parts, { reads }, this.#budget.inSnapshot(reads.pauses))
        })
      }
      return await this.#runner.atomically(parts, async (tx) => {
        begin()
        const answers = await this.#each(parts, { within: tx }, this.#budget.inTransaction())
        if (answers.some(({ answer }) => answer.status >= 400)) throw new RolledBack(answers)
        return answers
      })
    } catch (error) {
      // Throwing is the only way to roll back; this error becomes the answers again.
      if (error instanceof RolledBack) return error.answers
      throw error
    } finally {
      this.#behind = behind - parts.length
    }
  }

  async #each(
    parts: readonly BatchPart[],
    { within, reads }: Partial<Pick<BatchedPart, 'within' | 'reads'>>,
    budget: Budget,
  ): Promise<readonly PartAnswer[]> {
    const answers: PartAnswer[] = []
    for (const part of parts) {
      this.#behind--
      const answer = await this.#one(part, { within, reads, budget: budget.share(this.#behind) })
      await budget.pause()
      answers.push({ part, answer })
      if (answer.status < 400) continue
      this.#failed.add(part.id)
      if (within !== undefined || reads !== undefined) break
    }
    return answers
  }

  async #one(part: BatchPart, batched: BatchedPart): Promise<BusinessAnswer> {
    if (part.dependsOn.some((one) => this.#failed.has(one))) {
      return refused(424, 'BadRequest', 'A request this one depends on was refused.')
    }
    const address = this.#address(part.url)
    if (address === undefined) {
      const shown = part.url.slice(0, 100)
      return refused(
        400,
        'BadRequest_InvalidRequestUrl',
        `'${shown}' is no address of this service.`,
      )
    }
    const question = address.indexOf('?')
    const path = question < 0 ? address : address.slice(0, question)
    if (isBatchPath(path)) {
      return refused(400, 'BadRequest_InvalidOperation', 'A batch cannot hold a batch.')
    }
    const ifMatch = part.headers['if-match']
    const tag = ifMatch?.startsWith('$') ? this.#made.get(ifMatch.slice(1))?.etag : undefined
    const answer = await this.#runner.serve(
      {
        ...this.#outer,
        method: part.method,
        path,
        search: question < 0 ? '' : address.slice(question + 1),
        headers: { ...part.headers, ...(tag === undefined ? {} : { 'if-match': tag }) },
        body: part.body,
        json: part.json,
      },
      batched,
    )
    if (answer.status < 400 && part.id !== '') {
      const location = answer.headers['Location']
      const made = location === undefined ? undefined : this.#relative(location)
      this.#made.set(part.id, { address: made ?? path, etag: answer.headers['ETag'] })
    }
    return answer
  }

  /** Relative to the version, with references replaced; `undefined` for another server's address. */
  #address(url: string): string | undefined {
    const reference = /^\/?\$([^/?]+)(.*)$/s.exec(url)
    const made = reference === null ? undefined : this.#made.get(reference[1] ?? '')
    if (made !== undefined) return made.address + (reference?.[2] ?? '')
    return this.#relative(url)
  }

  #relative(url: string): string | undefined {
    const root = `${this.#publicUrl}/${this.#outer.version}/`
    if (url.startsWith(root)) return url.slice(root.length)
    const { pathname } = new URL(root)
    for (const path of [pathname, `/api/${this.#outer.version}/`])
      if (url.startsWith(path)) return url.slice(path.length)
    return url.startsWith('/') || /^[a-z][a-z0-9+.-]*:/i.test(url) ? undefined : url
  }
}

function refused(status: number, code: string, message: string): BusinessAnswer {
  return { status, headers: jsonHeaders, body: JSON.stringify({ error: { code, message } }) }
}
