/** The query of operation 4 (contract, Endpoints 4): search, top, skip and count, and orders of several fields. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { invoice, list, made, put, row, texts } from '../../testing/rows.ts'
import { account, profile, startBilling, type Wire } from '../../testing/start.ts'

describe('the query', () => {
  test('search reaches every string field, names by their beginning, and no number', async () => {
    await using started = await startBilling()
    const name = 'abcdef01-2222-4333-8444-0000000000aa'
    const rows = texts.map((path, at) =>
      row(made(path, `Word${String.fromCharCode(97 + at)}xyz and more`)),
    )
    assert.deepEqual(
      await put(started, [
        ...rows,
        row({ quantity: 555_444, units: 333_222 }, { name }),
        row({ creditType: 'ServiceInterruption', kind: 'Reservation' }),
        row({ specialTaxationType: 'SubtotalLevel', pricingCurrency: 'CHF' }),
      ]),
      [],
    )
    const count = async (words: string): Promise<number> => {
      const found = await started.get(`${list}?count=true&search=${encodeURIComponent(words)}`)
      assert.equal(found.value.length, found.count)
      return found.count
    }
    for (const [at, path] of texts.entries()) {
      const word = `word${String.fromCharCode(97 + at)}xyz`
      assert.equal(await count(word), 1, path)
      assert.equal(await count(`${word.toUpperCase()} ${invoice.toLowerCase()}`), 1, path)
    }
    for (const word of ['interruption', 'reservation', 'subtotallevel', 'chf']) {
      assert.equal(await count(word), 1, word)
    }
    assert.equal(await count(name), 1)
    assert.equal(await count('ABCDEF01-2222'), 1)
    assert.equal(await count(`${profile}/transactions/${name}`), 1)
    assert.equal(await count(`${profile}/transactions/`), 19)
    assert.equal(await count(`${account}/invoices/${invoice}`), 19)
    assert.equal(await count('default'), 19)
    assert.equal(await count(`${account}/invoices/G999999999`), 0)
    // It is in the names of the invoice and the account, but not at their beginning.
    assert.equal(await count('345'), 0)
    assert.equal(await count('2222-4333'), 0)
    assert.equal(await count('g1234'), 19)
    assert.equal(await count('555444'), 0)
    assert.equal(await count('333222'), 0)
  })

  test('top and skip are whole numbers of 64 bits, top to 50; count is true or false', async () => {
    await using started = await startBilling()
    await put(started, [row({}), row({})])
    const status = async (query: string): Promise<unknown> =>
      started.get(`${list}?${query}`).then(
        ({ value }) => value.length,
        (error) => error.status,
      )
    assert.deepEqual(
      await Promise.all(
        ['top=1', 'top=50', 'skip=0', 'skip=1', 'skip=2', 'count=TRUE'].map(status),
      ),
      [1, 2, 2, 1, 0, 2],
    )
    for (const skip of ['1000001', '9007199254740993', '9223372036854775807']) {
      assert.equal(await status(`skip=${skip}`), 0, skip)
      assert.equal(await status(`skip=${skip}&orderBy=quantity`), 0, skip)
    }
    for (const query of [
      'top=51',
      'top=0',
      'top=1.5',
      'top=9223372036854775807',
      'top=9223372036854775808',
      'top=-1',
      'skip=-1',
      'skip=0x1',
      'skip=9223372036854775808',
      'count=1',
    ]) {
      assert.equal(await status(query), 400, query)
    }
  })

  test('an order of several fields, and where it is too expensive why', async () => {
    await using started = await startBilling({ limits: { tieRowsMax: 20, sortRowsMax: 10 } })
    const rows = Array.from({ length: 200 }, (_, at) =>
      row({ transactionAmount: at % 50, quantity: at % 7, units: 200 - at, productType: 'one' }),
    )
    assert.deepEqual(await put(started, rows), [])
    const expected = Array.from({ length: 200 }, (_, at) => at).sort(
      (a, b) => (b % 50) - (a % 50) || (a % 7) - (b % 7) || b - a,
    )
    const found: number[] = []
    let token: string | undefined
    do {
      const more: string = token === undefined ? '' : `&$skipToken=${encodeURIComponent(token)}`
      const query = `orderBy=transactionAmount/value desc,quantity,units&top=17${more}`
      const page = await started.get(`${list}?${query}`)
      found.push(...page.value.map(({ properties }: Wire) => 200 - properties.units))
      token = page.nextToken
    } while (token !== undefined)
    assert.deepEqual(found, expected)
    const same = Array.from({ length: 1200 }, () => row({ exchangeRate: 2 }))
    assert.deepEqual(await put(started, same), [])
    const error = await started
      .get(`${list}?orderBy=exchangeRate desc,transactionAmount/value`)
      .catch((reason) => reason)
    assert.deepEqual([error.status, error.code], [400, 'OrderTooExpensive'])
    assert.match(error.message, /more than 20 are alike by properties\/exchangeRate/)
  })
})
