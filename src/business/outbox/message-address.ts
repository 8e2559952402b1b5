/** The message of an outbox entry as it was sent, at the address `…/outboxEntries({id})/content`. */

import { findRow } from '#query/rows.ts'
import { refuse } from '../errors.ts'
import type { BusinessAnswer, BusinessRequest, Reads } from '../message.ts'
import { outboxEntries } from '../tables.ts'

const form = /^(.+?\/outboxEntries\([^()/]*\))\/content(?:\/\$value)?\/?$/

/** The address of the entry. Undefined if the address is not one of these. */
export function messageAddress({ path }: Pick<BusinessRequest, 'path'>): string | undefined {
  return path.includes('/outboxEntries(') ? form.exec(path)?.[1] : undefined
}

/** A browser neither runs nor loads anything of the message. */
const headers = Object.freeze({
  'Content-Type': 'message/rfc822',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'X-Content-Type-Options': 'nosniff',
  'OData-Version': '4.0',
})

export async function messageAnswer(
  reads: Reads,
  companyId: string,
  id: string,
): Promise<BusinessAnswer> {
  const row = await findRow(reads, outboxEntries, { id, company_id: companyId })
  if (row === undefined || row.message === '') {
    throw refuse.BadRequest_ResourceNotFound({ type: 'message', key: `the id '${id}' yet` })
  }
  const name = `attachment; filename="${id}.eml"`
  return {
    status: 200,
    headers: { ...headers, 'Content-Disposition': name },
    body: undefined,
    bytes: Buffer.from(row.message, 'latin1'),
  }
}
