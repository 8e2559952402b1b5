/**
 * The path of every request, as a matrix: one row per step in the order they run (facts 9.7), one column per
 * kind of endpoint. A step returns nothing, or a promise of nothing, or throws; only promises are awaited.
 */

import { inRequestOf, leaveRoomForLarge } from '#plane/behalf-of.ts'
import { freeTurn } from '#plane/next-turn.ts'
import { awaitedBy, type Edge, type EndpointKind, type Exchange } from './exchange.ts'
import { respond } from './respond.ts'
import { authenticate } from './steps/authenticate.ts'
import { authorize } from './steps/authorize.ts'
import { correlate } from './steps/correlate.ts'
import { locate } from './steps/locate.ts'
import { readBody } from './steps/read-body.ts'
import { run } from './steps/run.ts'
import { throttle } from './steps/throttle.ts'

type Step = (exchange: Exchange, edge: Edge) => void | Promise<void>

interface Row {
  readonly step: Step
  /** The columns in which the step runs. */
  readonly kinds: ReadonlySet<EndpointKind>
  /** The statuses it may refuse with, for the reader. */
  readonly refuses: readonly number[]
}

const columns = [
  'resource',
  'collection',
  'action',
  'operation',
  'directory',
  'business',
  'open',
] as const

// biome-ignore format: a matrix is read as a matrix.
export const matrix: readonly Row[] = [
  //                 resource collection action operation directory business open    refuses with
  row(correlate,    ' ●        ●          ●      ●         ●         ●       ● ',   400, 417),
  row(authenticate, ' ●        ●          ●      ●         ●         ●       - ',   401),
  row(locate,       ' ●        ●          ●      ●         -         -       - ',   400, 404, 405),
  row(throttle,     ' ●        ●          ●      ●         ●         ●       - ',   429),
  row(authorize,    ' ●        ●          ●      ●         ●         -       - ',   403, 404),
  row(readBody,     ' ●        ●          ●      ●         ●         -       - ',   400, 413, 415),
  row(run,          ' ●        ●          ●      ●         ●         ●       ● ',   400, 404, 405, 409, 412),
]

function row(step: Step, cells: string, ...refuses: readonly number[]): Row {
  const marks = cells.trim().split(/\s+/)
  const kinds = new Set(columns.filter((_, index) => marks[index] === '●'))
  return { step, kinds, refuses }
}

/** The matrix transposed once: per kind, the step of each row, or nothing where the cell is empty. */
const stepsByKind: Readonly<Record<EndpointKind, readonly (Step | undefined)[]>> = {
  resource: stepsOf('resource'),
  collection: stepsOf('collection'),
  action: stepsOf('action'),
  operation: stepsOf('operation'),
  directory: stepsOf('directory'),
  business: stepsOf('business'),
  open: stepsOf('open'),
}

function stepsOf(kind: EndpointKind): readonly (Step | undefined)[] {
  return matrix.map((row) => (row.kinds.has(kind) ? row.step : undefined))
}

/** What a request asks the store, it asks in the name of its caller, from the step on that tells who it is. */
export async function runPipeline(exchange: Exchange, edge: Edge): Promise<void> {
  const next = await walk(exchange, edge, 0)
  const { principal } = exchange
  if (next === undefined || principal === undefined) return
  const awaited = (): AbortSignal | undefined => exchange.deadline?.signal
  const gone = awaitedBy(exchange)
  // Actions that count as reads may have done something elsewhere that the store does not know of yet.
  const onlyReads = exchange.method === 'GET' || exchange.method === 'HEAD'
  const readsAwaited = () => (onlyReads && exchange.counts === 'reads' ? gone() : undefined)
  await inRequestOf(principal.id, awaited, () => walk(exchange, edge, next), readsAwaited)
}

/**
 * Walks the rows from this one on. `locate` may move the exchange to another column; the row number stays. Results in the
 * next row where a step has told who the caller is.
 */
async function walk(exchange: Exchange, edge: Edge, from: number): Promise<number | undefined> {
  const wasKnown = exchange.principal !== undefined
  for (let index = from; index < matrix.length; index++) {
    const step = stepsByKind[exchange.endpoint.kind][index]
    const pending = step?.(exchange, edge)
    if (pending !== undefined) {
      await pending
      // Many may have waited for the same: a commit, a turn of the disk.
      const turn = freeTurn(exchange.principal?.id)
      if (turn !== undefined) await turn
    }
    // The deadline has answered. Completed steps stand, and the remaining ones are skipped.
    if (exchange.answered) return undefined
    // A read is not started for a client that is gone.
    if (exchange.counts === 'reads' && exchange.request.socket.destroyed) return undefined
    if (!wasKnown && exchange.principal !== undefined) return index + 1
  }
  const { outcome } = exchange
  if (outcome === undefined) throw new Error('the walk ended without an outcome')
  leaveRoomForLarge()
  // Nothing of it is kept while its bytes wait to be read, and while its connection, which refers to it, waits for more.
  exchange.outcome = undefined
  exchange.body = undefined
  const pending = respond(exchange, edge, outcome)
  if (pending !== undefined) await pending
  return undefined
}
