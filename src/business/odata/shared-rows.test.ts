/**
 * Lists below a row that stands below many rows, at several levels: the answer holds what an answer may hold, however often
 * they are in it.
 */

import assert from 'node:assert/strict'
import { inTurn, openCompany } from '../testing/books.ts'
import { caller, type Json } from '../testing/caller.ts'
import { odataLimits } from './limits.ts'

const invoices = 30
/** The last text of each level may be too long by itself. */
const charactersMax = 3 * odataLimits.answerCharactersMax
const through = (inner: string) => `$expand=customer($expand=salesInvoices(${inner}))`

for (const { dialect, test } of inTurn()) {
  for (const what of ['lists of lists', 'single rows']) {
    test(`${dialect}: ${what} below a row that many share`, async (t) => {
      await using company = await openCompany(t, dialect)
      if (company === undefined) return
      const { customerId, create } = company
      const call = caller(company)
      const get = async (status: number, address: string): Promise<Json> => {
        const answer = await call(status, 'v2.0', 'GET', address)
        const { length } = JSON.stringify(answer)
        assert.ok(length < charactersMax, `${length} characters`)
        return answer
      }
      const made: string[] = []
      for (let at = 0; at < invoices; at++) made.push(await create('salesInvoices', { customerId }))
      if (what === 'single rows') {
        const journalId = await create('customerPaymentJournals', { code: 'J' })
        for (const appliesToInvoiceId of made)
          await create('customerPayments', { journalId, appliesToInvoiceId, amount: 1 })
        const wide = `$expand=customer($expand=customerPayments)`
        await get(400, `customerPayments?$expand=invoice(${through(wide)})`)
        await get(200, `customerPayments?$expand=invoice($expand=customer)`)
        return
      }
      await get(
        200,
        `customers(${customerId})?$expand=salesInvoices(${through(through('$top=1000'))})`,
      )
      const numbers = new Set<unknown>()
      for (
        let next: string | undefined = `salesInvoices?${through(through('$expand=customer'))}`;
        next !== undefined;
      ) {
        const page: Json = await get(200, next)
        for (const { number } of page['value'] as readonly Json[]) numbers.add(number)
        next = (page['@odata.nextLink'] as string | undefined)?.split(/companies\([^)]*\)\//)[1]
      }
      assert.equal(numbers.size, invoices)
    })
  }
}
