/** A company of the business application, by HTTP on a server of its own. */

import assert from 'node:assert/strict'
import type { Installation } from './installation.ts'

export const root = '/api/v2.0'

export async function made(
  server: Installation,
  set: string,
  body: object,
): Promise<Readonly<Record<string, unknown>>> {
  const answer = await server.request('POST', `${root}/${set}`, { body })
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Readonly<Record<string, unknown>>
}

/** A company with a customer, an item and a tax of 5 %. */
export async function makeCompany(server: Installation) {
  const company = await made(server, 'companies', { name: 'Paper & Sons' })
  const at = `companies(${company['id']})`
  const area = await made(server, `${at}/taxAreas`, { code: 'HOME', displayName: 'Home' })
  await made(server, `${at}/taxGroups`, { code: 'FURNITURE', displayName: 'Furniture' })
  await made(server, `${at}/taxRates`, {
    taxAreaCode: 'HOME',
    taxGroupCode: 'FURNITURE',
    taxPercent: 5,
  })
  await made(server, `${at}/unitsOfMeasure`, { code: 'PCS', displayName: 'Piece' })
  const item = await made(server, `${at}/items`, {
    displayName: 'Chair',
    unitPrice: 54.9,
    baseUnitOfMeasureCode: 'PCS',
    taxGroupCode: 'FURNITURE',
  })
  const customer = await made(server, `${at}/customers`, {
    displayName: 'Adatum',
    taxLiable: true,
    taxAreaId: area['id'],
  })
  return { at, itemId: String(item['id']), customerId: String(customer['id']) }
}
