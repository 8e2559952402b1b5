/**
 * Operation 4 field by field and rule by rule (contract, Billing transaction; Endpoints 4): what is accepted and
 * what is refused.
 */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { invoice, made, put, row, shown, texts } from '../../testing/rows.ts'
import { account, startBilling, type Wire } from '../../testing/start.ts'

describe('enums: every value in any case, and nothing else', () => {
  for (const [field, values] of [
    [
      'creditType',
      ['Other', 'VendorFreeCredit', 'VendorCreditOffer', 'ServiceInterruption', 'Refund'],
    ],
    ['kind', ['Other', 'All', 'Reservation']],
    ['specialTaxationType', ['SubtotalLevel', 'InvoiceLevel']],
  ] as const) {
    test(field, async () => {
      await using started = await startBilling()
      const refused = await put(started, [
        ...values.map((value) => row({ [field]: value })),
        ...values.map((value) => row({ [field]: value.toUpperCase() })),
        row({ [field]: `${values[0]}s` }),
        row({ [field]: 1 }),
      ])
      const count = values.length * 2
      assert.deepEqual(refused, [
        [count + 1, field],
        [count + 2, field],
      ])
      for (const value of values) {
        const found = await shown(started, `filter=${field} eq '${value}'`)
        assert.deepEqual(
          found.map(({ properties }) => properties[field]),
          [value, value],
        )
      }
    })
  }
})

describe('names in the path', () => {
  const forms = {
    'H and a digit': ['H1-A', 'H9-ABC123'],
    'a letter and nine': ['GABCDEFGH1', 'H123456789', 'TABCDEFGHI', 'HT123456789', 'D12345678Z'],
    'E and nine': ['EB12345678', 'E0ABCDEFGH', 'EA12345678', 'EAABCDEFGH'],
  }
  for (const [form, names] of Object.entries(forms)) {
    test(`invoices: ${form}`, async () => {
      await using started = await startBilling()
      assert.deepEqual(
        await put(
          started,
          names.map((name) => row({ invoice: name })),
        ),
        [],
      )
      for (const name of names) {
        const { value } = await started.get(`${account}/invoices/${name}/transactions`)
        assert.equal(value.length, 1, name)
        assert.equal(value[0].properties.invoice, name)
        assert.equal(value[0].properties.invoiceId, `${account}/invoices/${name}`)
      }
    })
  }

  test('invoices: everything else is refused, in the path and in a file', async () => {
    await using started = await startBilling()
    const names = [
      'H1-a',
      'H-A',
      'G12345678',
      'G1234567890',
      'X123456789',
      'EA1234567',
      'D-2345678',
    ]
    assert.deepEqual(
      await put(
        started,
        names.map((name) => row({ invoice: name })),
      ),
      names.map((_, at) => [at + 1, 'invoice']),
    )
    for (const name of names) {
      const error = await started
        .get(`${account}/invoices/${name}/transactions`)
        .catch((reason) => reason)
      assert.deepEqual([error.status, error.code], [400, 'InvalidInvoiceName'], name)
    }
  })

  test('accounts: the forms of the pattern, and no other', async () => {
    await using started = await startBilling()
    const guid = '00000000-aAbB-0000-0000-00000000000F'
    const status = async (name: string): Promise<number> => {
      const at = `/providers/Vendor.Billing/billingAccounts/${name}/invoices/${invoice}/transactions`
      const error = await started.get(at).catch((reason) => reason)
      return error.status
    }
    for (const name of ['0', '123456', 'PCN.abc1', 'pcn.X', guid, `${guid}:${guid}_2019-05-31`]) {
      assert.equal(await status(name), 404, name)
    }
    for (const name of [
      'a1',
      '12a',
      'PCN.',
      'PCN.a-b',
      guid.slice(1),
      `${guid}:${guid}`,
      `${guid}:${guid}_19-05-31`,
      `x${guid}`,
    ]) {
      assert.equal(await status(name), 400, name)
    }
  })
})

describe('tags', () => {
  const forbidden = ['<', '>', '%', '&', '\\', '?', '/']

  test('names and values of every other character, up to 256 of them', async () => {
    await using started = await startBilling()
    const printable = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).join('')
    const allowed = [...printable].filter((one) => !forbidden.includes(one)).join('')
    const tags = {
      [allowed]: printable,
      ['k'.repeat(256)]: 'v'.repeat(256),
      'Größe ✓ 漢字 😀': '漢字 😀\n',
      __proto__x: 'a',
    }
    assert.deepEqual(await put(started, [row({}, { tags })]), [])
    const [one] = await shown(started)
    assert.deepEqual(one.tags, tags)
    await started.call('PATCH', one.id, { tags: {} })
    assert.deepEqual((await started.get(one.id)).tags, {})
    await started.call('PATCH', one.id, { tags })
    assert.deepEqual((await started.get(one.id)).tags, tags)
  })

  test('none of the seven characters in a name, nothing empty, null, longer or of another kind', async () => {
    await using started = await startBilling()
    const bad: readonly object[] = [
      ...forbidden.map((one) => ({ [`a${one}b`]: 'x' })),
      { a: '' },
      { a: null },
      { '': 'x' },
      { a: 1 },
      { ['k'.repeat(257)]: 'x' },
      { a: 'v'.repeat(257) },
      ['a'],
      { 'a\0': 'x' },
      { a: '\0' },
    ]
    const refused = await put(
      started,
      bad.map((tags) => row({}, { tags })),
    )
    assert.deepEqual(
      refused.map((one) => (Array.isArray(one) ? one[0] : one)),
      bad.map((_, at) => at + 1),
    )
    await put(started, [row({})])
    const [one] = await shown(started)
    for (const tags of bad) {
      const error = await started.call('PATCH', one.id, { tags }).catch((reason) => reason)
      assert.equal(error.status, 400, JSON.stringify(tags))
    }
  })
})

test('systemData tells who recorded it and when, and who changed its tags', async () => {
  await using started = await startBilling()
  await put(started, [row({})])
  const [one] = await shown(started)
  const createdAt = new Date(started.clock.now()).toISOString()
  const { createdBy } = one.systemData
  assert.ok(createdBy.length > 0)
  assert.deepEqual(one.systemData, {
    createdAt,
    createdBy,
    createdByType: 'User',
    lastModifiedAt: createdAt,
    lastModifiedBy: createdBy,
    lastModifiedByType: 'User',
  })
  started.clock.set(started.clock.now() + 5000)
  await started.call('PATCH', one.id, { tags: { a: 'b' } })
  const lastModifiedAt = new Date(started.clock.now()).toISOString()
  assert.deepEqual((await started.get(one.id)).systemData, {
    createdAt,
    createdBy,
    createdByType: 'User',
    lastModifiedAt,
    lastModifiedBy: createdBy,
    lastModifiedByType: 'User',
  })
})

const amounts = [
  'vendorCreditApplied',
  'consumptionCommitmentDecremented',
  'refundTransactionDetails.amountRefunded',
  'refundTransactionDetails.amountRequested',
] as const
const prices = ['effectivePrice', 'marketPrice'] as const
const moments = ['date', 'servicePeriodStartDate', 'servicePeriodEndDate'] as const

/** The value at a path such as `a.b`. */
const read = (of: Wire, path: string): unknown =>
  path.split('.').reduce((at, name) => at?.[name], of)

describe('what each field takes', () => {
  test('text: up to 512 characters of any kind, and text alone', async () => {
    await using started = await startBilling()
    for (const path of texts) {
      const long = '✓ "quoted", '.padEnd(512, 'ü')
      const refused = await put(started, [
        row(made(path, long)),
        row(made(path, `${long}x`)),
        row(made(path, 5)),
        row(made(path, 'a\0')),
        row(made(path, '\ud800')),
        row(made(path, null)),
      ])
      assert.deepEqual(
        refused,
        [2, 3, 4, 5].map((line) => [line, path]),
      )
      const filter = `filter=${path.replace('.', '/')} eq '${long}'`
      const found = await shown(started, filter.replaceAll('"', '%22'))
      assert.deepEqual(
        found.map(({ properties }) => read(properties, path)),
        [long],
        path,
      )
    }
  })

  test('amounts: numbers or texts that are, with the billing currency or none', async () => {
    await using started = await startBilling()
    for (const path of amounts) {
      const refused = await put(started, [
        row(made(path, { currency: 'USD', value: 1.005 })),
        row(made(path, '2.50')),
        row(made(path, { currency: 'EUR', value: 1 })),
        row(made(path, { value: 'x' })),
        row(made(path, 900_000_000_001)),
        row(made(path, [1])),
      ])
      assert.deepEqual(refused, [
        [3, `${path}.currency`],
        [4, path],
        [5, path],
        [6, path],
      ])
      const query = `filter=${path.replace('.', '/')}/value gt 0`
      const found = await shown(started, query)
      assert.deepEqual(
        found.map(({ properties }) => read(properties, path)),
        [
          { currency: 'USD', value: 1.01 },
          { currency: 'USD', value: 2.5 },
        ],
        path,
      )
    }
  })

  test('prices: in the pricing currency, of any precision', async () => {
    await using started = await startBilling()
    for (const path of prices) {
      const price = { currency: 'EUR', value: 0.000000123 }
      assert.deepEqual(
        await put(started, [row({ [path]: price, partNumber: path }), row({ [path]: 'much' })]),
        [[2, path]],
      )
      const [one] = await shown(started, `filter=partNumber eq '${path}'`)
      assert.deepEqual(one.properties[path], price)
      assert.equal(one.properties.pricingCurrency, 'EUR')
    }
  })

  test('moments: days, times and offsets; from 1970 to 9999', async () => {
    await using started = await startBilling()
    for (const path of moments) {
      const good = {
        '2026-10-02': '2026-10-02T00:00:00.000Z',
        '2026-10-02T10:30:00Z': '2026-10-02T10:30:00.000Z',
        '2026-10-02 10:30:00.250': '2026-10-02T10:30:00.250Z',
        '2026-10-02T10:30:00+02:00': '2026-10-02T08:30:00.000Z',
      }
      const bad = ['2026-02-30', '1969-12-31', '10000-01-01', 'today', 5, '2026-10-02T25:00:00Z']
      const unit = { unitType: path }
      const refused = await put(started, [
        ...Object.keys(good).map((value) => row({ [path]: value, ...unit })),
        ...bad.map((value) => row({ [path]: value })),
      ])
      assert.deepEqual(
        refused,
        bad.map((_, at) => [at + 5, path]),
      )
      const found = await shown(started, `filter=unitType eq '${path}'`)
      assert.deepEqual(
        found.map(({ properties }) => properties[path]),
        Object.values(good),
      )
    }
    assert.deepEqual(await put(started, [{ properties: { transactionAmount: 1 } }]), [[1, 'date']])
  })

  test('quantity is a whole number of 32 bits; units, rate and discount are numbers', async () => {
    await using started = await startBilling()
    const refused = await put(started, [
      row({ quantity: 2_147_483_647, units: 0.1, exchangeRate: 1.08, discount: 100 }),
      row({ quantity: -2_147_483_647, units: '-3.25', exchangeRate: 0, discount: '12.5' }),
      row({ quantity: 2_147_483_648 }),
      row({ quantity: 1.5 }),
      row({ units: 'many' }),
      row({ exchangeRate: -1 }),
      row({ discount: 101 }),
      row({ discount: -1 }),
    ])
    assert.deepEqual(refused, [
      [3, 'quantity'],
      [4, 'quantity'],
      [5, 'units'],
      [6, 'exchangeRate'],
      [7, 'discount'],
      [8, 'discount'],
    ])
    const found = await shown(started)
    assert.deepEqual(
      found.map(({ properties: p }) => [p.quantity, p.units, p.exchangeRate, p.discount]),
      [
        [2_147_483_647, 0.1, 1.08, 100],
        [-2_147_483_647, -3.25, 0, 12.5],
      ],
    )
  })

  test('currencies are three letters, in any case; isThirdParty is true or false', async () => {
    await using started = await startBilling()
    const refused = await put(started, [
      row({ invoice: 'G00000EUR0', billingCurrency: 'eur', isThirdParty: 'TRUE' }),
      row({ billingCurrency: 'EURO' }),
      row({ pricingCurrency: '€' }),
      row({ isThirdParty: 'maybe' }),
      row({ pricingCurrency: 'jpy', isThirdParty: false }),
    ])
    assert.deepEqual(refused, [
      [2, 'billingCurrency'],
      [3, 'pricingCurrency'],
      [4, 'isThirdParty'],
    ])
    const { value } = await started.get(`${account}/invoices/G00000EUR0/transactions`)
    assert.deepEqual(
      [value[0].properties.billingCurrency, value[0].properties.isThirdParty],
      ['EUR', true],
    )
    const [one] = await shown(started)
    assert.deepEqual([one.properties.pricingCurrency, one.properties.isThirdParty], ['JPY', false])
  })

  test('subTotal, tax and transactionAmount follow from each other, or add up', async () => {
    await using started = await startBilling()
    const of = (subTotal?: number, tax?: number, transactionAmount?: number): object => ({
      properties: { date: '2026-10-01', invoice, subTotal, tax, transactionAmount },
    })
    const refused = await put(started, [
      of(10, 2, 12),
      of(10, 2),
      of(undefined, 2, 12),
      of(10, undefined, 12),
      of(12, 0, 12),
      of(10, 2, 13),
      of(),
      of(undefined, 2),
      of(900_000_000_000, 900_000_000_000),
      of(undefined, 900_000_000_000, -900_000_000_000),
    ])
    assert.deepEqual(refused, [
      [6, 'transactionAmount'],
      [7, 'transactionAmount'],
      [8, 'transactionAmount'],
      [9, 'transactionAmount'],
      [10, 'subTotal'],
    ])
    const found = await shown(started)
    assert.deepEqual(
      found.map(({ properties: p }) => [p.subTotal.value, p.tax.value, p.transactionAmount.value]),
      [
        [10, 2, 12],
        [10, 2, 12],
        [10, 2, 12],
        [10, 2, 12],
        [12, 0, 12],
      ],
    )
  })
})
