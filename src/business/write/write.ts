/** Sends a write to what knows its kind of entity: documents, their lines, companies, or master data. */

import type { Entity, Model } from '../entity.ts'
import { refuse } from '../errors.ts'
import { createCompany, removeCompany } from './companies.ts'
import { changeDocument, createDocument, removeDocument } from './documents.ts'
import { changeLine, createLine, type LinePlace, removeLine, type WrittenLine } from './lines.ts'
import { changeMaster, createMaster, type Owner, removeMaster } from './master.ts'
import { createPayment } from './payments.ts'
import type { WriteContext } from './rows.ts'
import type { Body } from './values.ts'

type Kind = 'lines' | 'documents' | 'payments' | 'companies' | 'master'

function kindOf(entity: Entity): Kind {
  if (entity.table === 'business_lines') return 'lines'
  if (entity.table === 'business_documents') return 'documents'
  if (entity.table === 'business_customer_payments') return 'payments'
  return entity.set === 'companies' ? 'companies' : 'master'
}

/** Where a create was sent: below a row, and for lines with the contract's odd key. */
export interface Place extends LinePlace {
  readonly owner: Owner | undefined
}

/** What was written: its id, and its row where that is known without another look. */
type Written = WrittenLine

/** Creates. */
export async function create(
  context: WriteContext,
  model: Model,
  entity: Entity,
  body: Body,
  place: Place,
): Promise<Written> {
  if (!entity.allows.create) throw notAllowed(entity, 'POST', 'set')
  switch (kindOf(entity)) {
    case 'lines':
      return await createLine(context, entity, body, place)
    case 'documents':
      return unread(await createDocument(context, model, entity, ofCustomer(body, place)))
    case 'payments':
      return unread(await createPayment(context, entity, ofCustomer(body, place)))
    case 'companies':
      return unread(await createCompany(context, entity, body))
    default:
      return unread(await createMaster(context, entity, body, place.owner))
  }
}

function unread(id: string): Written {
  return { id, row: undefined }
}

function ofCustomer(body: Body, { owner }: Place): Body {
  return owner?.column === 'customer_id' ? { customerId: owner.id, ...body } : body
}

/** `within`: of lines, the document that the address names. */
export async function change(
  context: WriteContext,
  entity: Entity,
  id: string,
  body: Body,
  ifMatch: string | undefined,
  within?: string,
): Promise<Written> {
  if (!entity.allows.change) throw notAllowed(entity, 'PATCH')
  switch (kindOf(entity)) {
    case 'lines':
      return await changeLine(context, entity, id, body, ifMatch, within)
    case 'documents':
      await changeDocument(context, entity, id, body, ifMatch)
      return unread(id)
    default:
      await changeMaster(context, entity, id, body, ifMatch)
      return unread(id)
  }
}

/** `within`: as for a change. */
export async function remove(
  context: WriteContext,
  model: Model,
  entity: Entity,
  id: string,
  ifMatch: string | undefined,
  within?: string,
): Promise<void> {
  if (!entity.allows.delete) throw notAllowed(entity, 'DELETE')
  switch (kindOf(entity)) {
    case 'lines':
      return await removeLine(context, entity, id, ifMatch, within)
    case 'documents':
      return await removeDocument(context, entity, id, ifMatch)
    case 'companies':
      return await removeCompany(context, model, entity, id, ifMatch)
    default:
      return await removeMaster(context, entity, id, ifMatch)
  }
}

/** `address`: what the methods allowed are those of. */
export function notAllowed(
  entity: Entity,
  method: string,
  address: 'set' | 'row' | 'other' = 'row',
): Error {
  const { create: post, change: patch, delete: del } = entity.allows
  // Lines are also made at the address of a line (contract, rule 3).
  const isMadeHere = address === 'set' || (address === 'row' && kindOf(entity) === 'lines')
  const allow = [
    'GET',
    ...(post && isMadeHere ? ['POST'] : []),
    ...(patch && address === 'row' ? ['PATCH'] : []),
    ...(del && address === 'row' ? ['DELETE'] : []),
  ].join(', ')
  return refuse.BadRequest_MethodNotAllowed({ method, allow }, { headers: { Allow: allow } })
}
