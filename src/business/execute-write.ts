/** A write that is permitted, and whose row is known, by its verb: what it changes, its record and its answer. */

import type { BusinessWrite } from './activity.ts'
import { runDocumentAction } from './documents/actions.ts'
import type { Entity } from './entity.ts'
import { refuse } from './errors.ts'
import { type BusinessAnswer, type BusinessRequest, jsonAnswer } from './message.ts'
import { businessModel as model } from './model.ts'
import { contentTypeOf, isUsual } from './odata/answer-format.ts'
import type { Budget } from './odata/budget.ts'
import { plainOptions } from './odata/options.ts'
import type { ResolvedPath } from './odata/path-rows.ts'
import type { Reader } from './odata/reader.ts'
import type { DataRequest } from './odata/request.ts'
import { lines } from './tables.ts'
import type { WriteContext } from './write/rows.ts'
import type { Target } from './write/tag.ts'
import {
  change,
  create,
  notAllowed,
  type Place,
  remove,
  unread,
  type Written,
} from './write/write.ts'

/** A permitted write with the row that its address names. */
export interface PreparedWrite {
  readonly request: BusinessRequest
  readonly parsed: DataRequest
  readonly entity: Entity
  readonly resolved: ResolvedPath
  readonly context: WriteContext
  readonly isCreate: boolean
  /** Whether the caller may post a document that is in review. */
  readonly mayRelease: boolean
  readonly budget: Budget
  /** With a budget as the answer shows the row, and otherwise whole, with nothing besides it. */
  show(row: Written, budget?: Budget, of?: Entity): ReturnType<Reader['show']>
  fieldsOf(): ReturnType<Reader['fieldsOf']>
  record(write: BusinessWrite): Promise<void>
}

export async function executeWrite(writing: PreparedWrite): Promise<BusinessAnswer> {
  const { entity, parsed } = writing
  if (writing.isCreate && (parsed.kind === 'rows' || entity.table === lines)) {
    return await created(writing)
  }
  if (parsed.kind === 'action' && parsed.method === 'POST') {
    return await acted(writing, parsed.action.name)
  }
  if (parsed.kind !== 'row') {
    throw notAllowed(entity, parsed.method, parsed.kind === 'rows' ? 'set' : 'other')
  }
  if (parsed.method === 'PATCH') return await patched(writing)
  if (parsed.method === 'DELETE') return await deleted(writing)
  throw notAllowed(entity, parsed.method)
}

async function created(writing: PreparedWrite): Promise<BusinessAnswer> {
  const { parsed, entity, context, budget } = writing
  const { body } = parsed
  if (body === undefined) {
    throw refuse.BadRequest({
      reason: `A POST to '${entity.set}' needs a body: a JSON object, be it empty.`,
    })
  }
  const place = placeOf(parsed, writing.resolved)
  const row = await create(context, model, { entity, body, place })
  const after = await writing.show(row, budget)
  await writing.record({
    operation: `${entity.set}/write`,
    location: after.location,
    httpStatus: 201,
    after: await recorded(writing, row, after),
  })
  return shown(parsed, after, 201)
}

async function acted(writing: PreparedWrite, action: string): Promise<BusinessAnswer> {
  const { parsed, entity, context } = writing
  const result = await runDocumentAction(context, rowOf(writing), action, writing.mayRelease)
  const led = model.find(result.set, parsed.version) ?? entity
  const { location } = await writing.show(unread(result.id), undefined, led)
  await writing.record({
    operation: `${entity.set}/${action}/action`,
    location,
    httpStatus: 204,
  })
  return {
    status: 204,
    headers: { 'OData-Version': '4.0', Location: location },
    body: undefined,
  }
}

async function patched(writing: PreparedWrite): Promise<BusinessAnswer> {
  const { parsed, entity, context, budget } = writing
  const target = rowOf(writing)
  const fieldsOf = writing.fieldsOf()
  const isRead = fieldsOf === undefined && entity.allows.change
  const read = isRead ? await writing.show(unread(target.id)) : undefined
  const { before, ...row } = await change(context, target, parsed.body ?? {})
  const after = await writing.show(row, budget)
  await writing.record({
    operation: `${entity.set}/write`,
    location: after.location,
    httpStatus: 200,
    before: read ?? { fields: fieldsOf?.(before) },
    after: await recorded(writing, row, after),
  })
  return shown(parsed, after, 200)
}

async function deleted(writing: PreparedWrite): Promise<BusinessAnswer> {
  const { request, entity, context } = writing
  const target = rowOf(writing)
  const before = entity.allows.delete ? await writing.show(unread(target.id)) : undefined
  await remove(context, model, target)
  await writing.record({
    operation: `${entity.set}/delete`,
    location: before?.location ?? request.path,
    httpStatus: 204,
    ...(before === undefined ? {} : { before }),
  })
  return { status: 204, headers: { 'OData-Version': '4.0' }, body: undefined }
}

/** The row after the write as the trail has it, whatever the client selects or expands. */
async function recorded(
  { parsed: { options, version }, entity, show }: PreparedWrite,
  row: Written,
  answer: Awaited<ReturnType<Reader['show']>>,
): Promise<typeof answer> {
  return options === plainOptions(entity, version) ? answer : await show(row)
}

/** The row after the write, in the form the client wants. */
function shown(
  parsed: DataRequest,
  { text, etag, location }: Awaited<ReturnType<Reader['show']>>,
  status: 200 | 201,
): BusinessAnswer {
  const own = { ETag: etag, ...(status === 201 ? { Location: location } : {}) }
  if (parsed.prefersMinimal) {
    const headers = { 'OData-Version': '4.0', 'OData-EntityId': location, ...own }
    return {
      status: 204,
      headers: { ...headers, 'Preference-Applied': 'return=minimal' },
      body: undefined,
    }
  }
  const { format } = parsed.options
  return jsonAnswer(
    status,
    text,
    isUsual(format) ? own : { ...own, 'Content-Type': contentTypeOf(format) },
  )
}

/** The row that the address names. */
function rowOf({ entity, parsed, resolved }: PreparedWrite): Target {
  const { id, parents } = resolved
  if (id === undefined) throw new Error('a request for one row was resolved without it')
  return { entity, id, ifMatch: parsed.ifMatch, within: parents.at(-1) }
}

function placeOf(parsed: DataRequest, resolved: ResolvedPath): Place {
  const last = parsed.path.at(-1)
  const parent = resolved.parents.at(-1)
  const column = last?.navigation?.on.foreign
  const owner = column === undefined || parent === undefined ? undefined : { column, id: parent }
  const [key] = parsed.kind === 'row' ? (last?.key ?? []) : []
  return {
    owner,
    documentId: owner?.column === 'document_id' ? owner.id : undefined,
    key: key?.field.type.kind === 'guid' ? String(key.value) : undefined,
  }
}
