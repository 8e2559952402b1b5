/**
 * The business application as one function from requests to answers. It connects address, access, reading and
 * writing.
 */

import type { ActivityQueue } from '#activity/queue.ts'
import type { Clock, Ids } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import type { Sql, SqlTx } from '#stores/store.ts'
import {
  type AccessDependencies,
  authorize,
  type Caller,
  callerAgain,
  callerOf,
  isFull,
  keptRightsOf,
  mayRead,
  requireWriter,
  rightsOf,
} from './access.ts'
import { type BusinessWrite, businessActivity } from './activity.ts'
import { openBatchRunner } from './batch-runner.ts'
import { pdfAddress } from './documents/pdf-document.ts'
import { createPdfMaker, type PdfMaker } from './documents/pdf-maker.ts'
import { readPrinted } from './documents/printed.ts'
import { asPage, wantsPage } from './documents/printed-page.ts'
import { refuse } from './errors.ts'
import { executeWrite, type PreparedWrite } from './execute-write.ts'
import { answering } from './failure.ts'
import {
  isDocument,
  messageOf,
  onlyRead,
  pdfOf,
  printingOf,
  type RowsRead,
  requireKnown,
  targetOf,
} from './files.ts'
import { readFollowed, refuseDeltaInBatch } from './following/changes.ts'
import { type BusinessAnswer, type BusinessRequest, jsonAnswer, jsonHeaders } from './message.ts'
import { businessModel as model } from './model.ts'
import {
  answerSubscription,
  type SubscriptionRequest,
  subscriptionAddress,
} from './notifications/subscriptions.ts'
import type { CallOut } from './notifications/webhook-channel.ts'
import { absent } from './odata/addressed-row.ts'
import { answerBatch, type BatchedPart } from './odata/batch.ts'
import { Budget } from './odata/budget.ts'
import { withLargeBody } from './odata/large-json.ts'
import { entityDefinitions, metadataOf, serviceDocument } from './odata/metadata.ts'
import { plainOptions } from './odata/options.ts'
import { companyIdIn, knownPath } from './odata/path-rows.ts'
import { createReader } from './odata/read.ts'
import type { Reader } from './odata/reader.ts'
import { type DataRequest, type ParsedRequest, parseRequest } from './odata/request.ts'
import { lastSegment } from './odata/search-options.ts'
import type { Outbox } from './outbox/deliver.ts'
import { messageAddress } from './outbox/message-address.ts'
import { untilDeadline } from './until-deadline.ts'
import { prefetchLine } from './write/lines.ts'
import { lockInTurn, type WriteContext, type Writing } from './write/rows.ts'

export interface BusinessDependencies extends AccessDependencies {
  readonly sql: Sql
  readonly clock: Clock
  readonly ids: Ids
  /** The vendor word in names of types and actions. */
  readonly namespace: string
  /** The address clients use; known once the server listens. */
  publicUrl(): string
  /** The status for a stale tag. */
  readonly conflictStatus: 409 | 412
  /** Where mail comes from, and who sends it. */
  readonly outbox?: Pick<WriteContext, 'mailSender'> &
    Pick<Outbox, 'wake'> & { readonly callOut?: CallOut }
  /** Default: one of its own. */
  readonly pdfs?: PdfMaker
  /** Takes requests that were refused; writes leave their records themselves. */
  readonly activity?: Pick<ActivityQueue, 'note'>
}

interface RequestedWrite {
  readonly request: BusinessRequest
  readonly parsed: DataRequest
  readonly caller: Caller
  readonly budget: Budget | undefined
}

export interface Business {
  /** Refusals are answers; it rejects only with failures of the store and bugs. */
  handle(request: BusinessRequest): Promise<BusinessAnswer>
  /** Throws the refusal of a caller who may write nowhere, and so has no use for a large body. */
  admitLarge(principal: Principal): Promise<void>
}

export function createBusiness(deps: BusinessDependencies): Business {
  const activity = businessActivity(deps.namespace, deps.activity)
  const readerOf = createReaders(deps)
  const pdfs = deps.pdfs ?? createPdfMaker()

  const filesOf = (request: BusinessRequest) => fileDependencies(deps, request, readerOf, pdfs)

  async function serve(
    request: BusinessRequest,
    caller: Caller,
    part: BatchedPart | undefined,
  ): Promise<BusinessAnswer> {
    const sql = untilDeadline(deps.sql, request)
    const { within, reads, budget } = part ?? {}
    const pdf = pdfAddress(request)
    if (pdf !== undefined) {
      if (part !== undefined) throw inBatch()
      return await pdfOf(filesOf(request), { request, caller }, pdf)
    }
    const subscription = subscriptionAddress(request)
    if (subscription !== undefined) {
      if (part !== undefined) throw inBatch()
      return await subscribing(deps, activity, { request, caller, ...subscription })
    }
    const entryPath = messageAddress(request)
    if (entryPath !== undefined) {
      if (part !== undefined) throw inBatch()
      return await messageOf(filesOf(request), { request, caller }, entryPath)
    }
    const plain = parseRequest(model, deps.namespace, request, deps.clock.now())
    const parsed = await withLargeBody(plain, request)
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (parsed.kind === 'batch') return await batch(request, caller)
    if (!('path' in parsed)) {
      if (!isRead) throw onlyRead(request.method)
      if (budget?.isSpent === true) throw tooMuch()
      const answer = describing(deps, request, parsed)
      budget?.spend(0, answer.body?.length ?? 0)
      return answer
    }
    if (isRead) {
      const reader = readerOf(request)
      const reading = { reader, parsed, caller, reads: reads ?? within ?? sql, budget }
      const isPage = part === undefined && wantsPage(request.headers['accept'])
      if (!isPage || !isDocument(parsed)) return await read(reading, part, { deps, sql, request })
      const printing = await printingOf(reading, request.headers['accept-language'])
      return await asPage(await readPrinted(printing), printing.budget)
    }
    let writer = caller
    const write = (tx: SqlTx): Promise<BusinessAnswer> =>
      written({ request, parsed, caller: writer, budget: budget?.inTransaction() }, tx)
    if (within !== undefined) return await write(within)
    const ready = async () => {
      writer = await callerAgain(deps, request)
    }
    const answer = await sql.transact(write, { owner: ownersOf(parsed, caller), ready })
    if (parsed.kind === 'action') deps.outbox?.wake()
    return answer
  }

  async function batch(request: BusinessRequest, caller: Caller): Promise<BusinessAnswer> {
    const runner = openBatchRunner({ deps, request, caller }, (one, current, part) =>
      noted(
        one,
        answering(
          one.correlationId,
          async () => await serve(one, await current(), part),
          part.within !== undefined,
        ),
      ),
    )
    const answer = await answerBatch(request, runner, rootOf(deps, request))
    deps.outbox?.wake()
    return answer
  }

  async function noted(
    request: BusinessRequest,
    answering: Promise<BusinessAnswer>,
  ): Promise<BusinessAnswer> {
    const answer = await answering
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (answer.status >= 400 && !isRead) activity.noteRefused(request, answer)
    return answer
  }

  async function written(requested: RequestedWrite, tx: SqlTx): Promise<BusinessAnswer> {
    const reader = readerOf(requested.request)
    return await executeWrite(await prepare(deps, requested, { tx, reader, activity }))
  }

  return {
    handle: (request) =>
      noted(
        request,
        answering(request.correlationId, async () => {
          const caller = await callerOf(deps, request.principal, request.rightsRefresh)
          return await serve(request, caller, undefined)
        }),
      ),
    async admitLarge(principal) {
      requireWriter(await rightsOf(deps.sql, await callerOf(deps, principal)))
    },
  }
}

function fileDependencies(
  deps: BusinessDependencies,
  request: BusinessRequest,
  readerOf: (request: BusinessRequest) => Reader,
  pdfs: PdfMaker,
) {
  const { sql, namespace, clock } = deps
  const root = rootOf(deps, request)
  return { sql, namespace, now: clock.now(), root, reader: readerOf(request), pdfs }
}

async function subscribing(
  deps: BusinessDependencies,
  activity: ReturnType<typeof businessActivity>,
  requested: SubscriptionRequest,
): Promise<BusinessAnswer> {
  const { request } = requested
  const { ids, conflictStatus, outbox } = deps
  const now = deps.clock.now()
  const own = {
    sql: untilDeadline(deps.sql, request),
    model,
    now,
    ids,
    conflictStatus,
    callOut: outbox?.callOut,
    callerAgain: () => callerAgain(deps, request),
    root: rootOf(deps, request),
    record: (tx: SqlTx, write: BusinessWrite) => activity.record(tx, now, request, write),
  }
  return await answerSubscription(own, requested)
}

interface WriteTools {
  readonly tx: SqlTx
  readonly reader: Reader
  readonly activity: ReturnType<typeof businessActivity>
}

/** From here on the caller's rights and the addressed rows are known. */
async function prepare(
  deps: BusinessDependencies,
  { request, parsed, caller, budget = Budget.ofTransaction() }: RequestedWrite,
  { tx, reader, activity }: WriteTools,
): Promise<PreparedWrite> {
  const entity = targetOf(parsed)
  const { version } = parsed
  const isOfCompany = entity.scope === 'company'
  const writing = { tx, dialect: deps.sql.dialect }
  // Until the transaction ends nobody removes the company: one store has one writer, the other locks.
  const lock = isOfCompany ? lockInTurn(writing) : ''
  const looking = reader.companyId(tx, parsed, lock)
  const named = isOfCompany ? companyIdIn(parsed) : undefined
  // Nobody locks rows of a company in which they may not write.
  if (caller.isAdministrator) prefetchWrite(writing, parsed)
  const isCreate = parsed.method === 'POST' && parsed.kind !== 'action'
  const permitted = async (id: string | undefined) => {
    const rights = await keptRightsOf(writing, caller, id)
    if (isOfCompany) requireKnown(rights, parsed, id)
    else if (id !== undefined && knownPath(parsed) === undefined && !mayRead(rights, id, entity)) {
      throw absent(lastSegment(parsed))
    }
    authorize(rights, id, entity, true)
    return rights
  }
  const [companyId, soon] = await Promise.all([looking, named && permitted(named)])
  if (!caller.isAdministrator) prefetchWrite(writing, parsed)
  if (!isOfCompany) requireKnown(await rightsOf(tx, caller), parsed, companyId)
  // Companies themselves are made in no company, though the address may name one.
  const within = isOfCompany ? companyId : undefined
  const early = soon || (isOfCompany || isCreate ? await permitted(within) : undefined)
  const odd = isCreate && parsed.kind === 'row' ? 'last-key-ignored' : undefined
  const resolved = knownPath(parsed) ?? (await reader.resolve(tx, parsed, companyId, odd))
  const rights = early ?? (await permitted(resolved.id))
  const context: WriteContext = {
    ...writing,
    companyId: within ?? resolved.id ?? '',
    version,
    now: deps.clock.now(),
    principalId: caller.principal.id,
    ids: deps.ids,
    mailSender: (address) => deps.outbox?.mailSender(address) ?? address,
    conflictStatus: deps.conflictStatus,
    nested: budget.nested,
  }
  return {
    request,
    parsed,
    entity,
    resolved,
    context,
    isCreate,
    mayRelease: isFull(rights, companyId),
    show({ id, row }, own, of = entity) {
      // What is no answer is the row itself, whatever the answer shows.
      const options = own === undefined ? plainOptions(entity, version) : parsed.options
      const request = { ...parsed, options }
      return reader.show({ reads: tx, request, companyId, entity: of, id, row, budget: own })
    },
    fieldsOf: () => reader.fieldsOf(parsed),
    record: (write) => activity.record(tx, context.now, request, write),
    budget,
  }
}

/** Sends together what the write of a line is about to read, where its address names ids alone. */
function prefetchWrite(writing: Writing, parsed: DataRequest): void {
  const companyId = companyIdIn(parsed)
  const { parents, id } = knownPath(parsed) ?? {}
  const documentId = parents?.at(-1)
  if (companyId === undefined || documentId === undefined) return
  const line = { documentId, id, itemId: parsed.body?.['itemId'] }
  prefetchLine({ ...writing, companyId }, targetOf(parsed), line)
}

/** Writes of one company wait for each other: for its numbers, its items, its documents. */
/** The company as the request names it, which may be in several ways: so the principal counts, too. */
function ownersOf({ company }: DataRequest, { principal }: Caller): readonly string[] {
  const named = company?.[0]?.value
  return named === undefined ? [principal.id] : [principal.id, String(named)]
}

function rootOf(
  deps: Pick<BusinessDependencies, 'publicUrl'>,
  { publicUrl }: BusinessRequest,
): string {
  return `${publicUrl ?? deps.publicUrl()}/api`
}

/** The reader for the address a caller used. Only the one for the installation's own address is kept. */
function createReaders(deps: BusinessDependencies): (request: BusinessRequest) => Reader {
  let kept: { readonly root: string; readonly reader: Reader } | undefined
  return (request) => {
    const publicUrl = rootOf(deps, request)
    if (publicUrl === kept?.root) return kept.reader
    const { namespace, sql, clock } = deps
    const reader = createReader({ model, namespace, publicUrl, dialect: sql.dialect, clock })
    if (publicUrl === `${deps.publicUrl()}/api`) kept = { root: publicUrl, reader }
    return reader
  }
}

/** The service's description of itself. */
function describing(
  deps: BusinessDependencies,
  request: BusinessRequest,
  { kind, version }: Exclude<ParsedRequest, DataRequest | { readonly kind: 'batch' }>,
): BusinessAnswer {
  const root = `${rootOf(deps, request)}/${version}`
  if (kind === 'service') return jsonAnswer(200, serviceDocument(model, version, root))
  if (kind === 'definitions') return jsonAnswer(200, entityDefinitions(model, version, root))
  return {
    status: 200,
    headers: { ...jsonHeaders, 'Content-Type': 'application/xml; charset=utf-8' },
    body: metadataOf(model, deps.namespace, version),
  }
}

async function read(
  { reader, parsed, caller, reads, budget }: RowsRead,
  part: BatchedPart | undefined,
  {
    deps,
    sql,
    request,
  }: {
    readonly deps: BusinessDependencies
    readonly sql: Sql
    readonly request: BusinessRequest
  },
): Promise<BusinessAnswer> {
  const rights = await rightsOf(reads, caller)
  // A row that is there tells that its company is, too.
  const named = companyIdIn(parsed)
  if (named !== undefined && mayRead(rights, named, targetOf(parsed))) {
    const answer = await reader.readById({ reads, budget }, parsed, named)
    if (answer !== undefined) return answer
  }
  const companyId = await reader.companyId(reads, parsed)
  requireKnown(rights, parsed, companyId)
  authorize(rights, companyId, targetOf(parsed), false)
  const visible = rights.isAdministrator ? undefined : [...rights.byCompany.keys()]
  const bounds = { companyId, visible }
  if (part !== undefined) refuseDeltaInBatch(parsed)
  else {
    const root = `${rootOf(deps, request)}/${parsed.version}`
    const following = { sql, now: deps.clock.now(), ids: deps.ids, reader, root }
    const answer = await readFollowed(following, parsed, bounds)
    if (answer !== undefined) return answer
  }
  return await reader.read({ reads, budget }, parsed, bounds)
}

/** Pages of rows end earlier instead. */
function tooMuch(): Error {
  return refuse.BadRequest({
    reason: 'The requests before it have used up what a batch may be answered: ask in another one.',
  })
}

function inBatch(): Error {
  return refuse.BadRequest({
    reason: 'A batch holds neither files nor subscriptions: ask for them by themselves.',
  })
}
