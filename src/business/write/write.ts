/** Dispatches a write by its entity: documents, their lines, companies, or master data. */

import type { SqlRow } from '#stores/store.ts'
import type { Entity, Model } from '../entity.ts'
import { refuse } from '../errors.ts'
import * as tables from '../tables.ts'
import { createCompany, removeCompany } from './companies.ts'
import { changeDocument, createDocument, removeDocument } from './documents.ts'
import { changeLine, createLine, type LinePlace, removeLine, type WrittenLine } from './lines.ts'
import { changeMaster, createMaster, type Owner, removeMaster } from './master.ts'
import { changePayment, createPayment, removePayment } from './payments.ts'
import type { WriteContext } from './rows.ts'
import type { Target } from './tag.ts'
import type { Body } from './values.ts'

type Kind = 'lines' | 'documents' | 'payments' | 'companies' | 'master'

function kindOf(entity: Entity): Kind {
  if (entity.table === tables.lines) return 'lines'
  if (entity.table === tables.documents) return 'documents'
  if (entity.table === tables.customerPayments) return 'payments'
  return entity.set === 'companies' ? 'companies' : 'master'
}

/** Where a create was sent: below a row, and for lines with the contract's odd key. */
export interface Place extends LinePlace {
  readonly owner: Owner | undefined
}

/** The id of the written row, and the row if it is known without reading it. */
export type Written = WrittenLine

/** Creates. */
export async function create(
  context: WriteContext,
  model: Model,
  { entity, body, place }: { readonly entity: Entity; readonly body: Body; readonly place: Place },
): Promise<Written> {
  if (!entity.allows.create) throw notAllowed(entity, 'POST', 'set')
  switch (kindOf(entity)) {
    case 'lines':
      return await createLine(context, entity, body, place)
    case 'documents':
      return unread(await createDocument(context, model, entity, ofOwner(body, place)))
    case 'payments':
      return unread(await createPayment(context, entity, ofOwner(body, place)))
    case 'companies':
      return unread(await createCompany(context, entity, body))
    default:
      return unread(await createMaster(context, entity, body, place.owner))
  }
}

export function unread(id: string): Written {
  return { id, row: undefined }
}

/** The property for the row that the address names as the owner. */
const ownerProperties: Readonly<Record<string, string>> = {
  customer_id: 'customerId',
  journal_id: 'journalId',
}

function ofOwner(body: Body, { owner }: Place): Body {
  const property = ownerProperties[owner?.column ?? '']
  return property === undefined ? body : { [property]: owner?.id, ...body }
}

/** Also returns the row as it was. */
export async function change(
  context: WriteContext,
  target: Target,
  body: Body,
): Promise<Written & { readonly before: SqlRow }> {
  const { entity } = target
  if (!entity.allows.change) throw notAllowed(entity, 'PATCH')
  switch (kindOf(entity)) {
    case 'lines':
      return await changeLine(context, target, body)
    case 'documents':
      return { ...unread(target.id), before: await changeDocument(context, target, body) }
    case 'payments':
      return { ...unread(target.id), before: await changePayment(context, target, body) }
    default:
      return { ...unread(target.id), before: await changeMaster(context, target, body) }
  }
}

export async function remove(context: WriteContext, model: Model, target: Target): Promise<void> {
  const { entity } = target
  if (!entity.allows.delete) throw notAllowed(entity, 'DELETE')
  switch (kindOf(entity)) {
    case 'lines':
      return await removeLine(context, target)
    case 'documents':
      return await removeDocument(context, target)
    case 'payments':
      return await removePayment(context, target)
    case 'companies':
      return await removeCompany(context, model, target)
    default:
      return await removeMaster(context, target)
  }
}

/** `address`: whose allowed methods are listed. */
export function notAllowed(
  entity: Entity,
  method: string,
  address: 'set' | 'row' | 'other' = 'row',
): Error {
  const { create: post, change: patch, delete: del } = entity.allows
  // Lines may also be created at the address of a line (contract, rule 3).
  const isMadeHere = address === 'set' || (address === 'row' && kindOf(entity) === 'lines')
  const allow = [
    'GET',
    ...(post && isMadeHere ? ['POST'] : []),
    ...(patch && address === 'row' ? ['PATCH'] : []),
    ...(del && address === 'row' ? ['DELETE'] : []),
  ].join(', ')
  return refuse.BadRequest_MethodNotAllowed({ method, allow }, { headers: { Allow: allow } })
}
