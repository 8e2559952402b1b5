/**
 * Rules of the public OData grammar, each with texts that match and texts that do not: expressions and orders by
 * the filter parser, addresses and other options by the request reader. The texts are our own.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { parseFilter, parseOrder } from '#kernel/filter/parse.ts'
import { strictProfile } from '#kernel/filter/profile.ts'
import { businessModel } from '../model.ts'
import { parseRequest } from './request.ts'

interface Rule {
  readonly rule: string
  readonly made: readonly string[]
  readonly not: readonly string[]
}

const id = '7f1c0d5e-2b9a-4c1e-8a35-0b1f6a2d9c44'

const expressions: readonly Rule[] = [
  {
    rule: 'string',
    made: ["a eq ''", "a eq 'x'", "a eq 'it''s'", "a eq ''''", "a eq 'a/b?c=d&e'", "a eq '日本'"],
    not: ["a eq 'x", 'a eq "x"', "a eq 'it's'", "a eq x'"],
  },
  {
    rule: 'numbers',
    made: [
      'a eq 0',
      'a eq -1',
      'a eq 1.50',
      'a eq 1e3',
      'a eq -1.5E-10',
      'a eq INF',
      'a eq -INF',
      'a eq NaN',
    ],
    not: ['a eq 1.', 'a eq .5', 'a eq 1e', 'a eq 0x1F', 'a eq 1_000', 'a eq --1x', 'a eq 1,5'],
  },
  {
    rule: 'boolean and null',
    made: ['a eq true', 'a eq false', 'a ne null', 'true', 'null eq a'],
    not: ['a eq true false', 'a eq'],
  },
  {
    rule: 'guid',
    made: [`a eq ${id}`, `a eq ${id.toUpperCase()}`],
    not: [`a eq ${id}0`, `a eq ${id.slice(1)}`, `a eq {${id}}`, `a eq guid'${id}'`],
  },
  {
    rule: 'date, dateTimeOffset, timeOfDay, duration',
    made: [
      'a eq 2026-02-28',
      'a eq 2024-02-29',
      'a eq 2026-01-31T12:00:00Z',
      'a eq 2026-01-31T12:00Z',
      'a eq 2026-01-31T12:00:00.123456+05:30',
      'a eq 23:59:59',
      "a eq duration'P1DT2H3M4.5S'",
      "a eq duration'-P1D'",
    ],
    not: [
      'a eq 2026-02-29',
      'a eq 2026-13-01',
      'a eq 2026-1-1',
      'a eq 2026-01-31T12:00:00',
      'a eq 2026-01-31T25:00:00Z',
      "a eq duration'1D'",
      "a eq duration'P'",
    ],
  },
  {
    rule: 'enum',
    made: ["a eq Vendor.NAV.status'Open'", "a has Sales.Pattern'Yellow'"],
    not: ["a eq Vendor.NAV.status'Open", "a eq 9Vendor'Open'"],
  },
  {
    rule: 'comparisons',
    made: [
      'a eq 1',
      'a ne 1',
      'a gt 1',
      'a ge 1',
      'a lt 1',
      'a le 1',
      '1 lt a',
      'a eq b',
      'a in (1,2)',
      "a in ('x', 'y')",
    ],
    not: [
      'a EQ 1',
      'a = 1',
      'a == 1',
      'a eq 1 2',
      'eq 1',
      'a in 1',
      'a in ()',
      'a in (1,)',
      'a eqq 1',
    ],
  },
  {
    rule: 'and, or, not, parentheses',
    made: [
      'a eq 1 and b eq 2',
      'a eq 1 or b eq 2 and c eq 3',
      'not a',
      'not (a eq 1)',
      'not not a',
      '(a eq 1)',
      '((a eq 1))',
      '( a eq 1 )',
      'a eq 1  and  b eq 2',
    ],
    not: [
      'a eq 1 and',
      'and a eq 1',
      'a eq 1 && b eq 2',
      '(a eq 1',
      'a eq 1)',
      '()',
      'not',
      'a eq 1 b eq 2',
      '!a',
    ],
  },
  {
    rule: 'arithmetic',
    made: [
      'a add 1 eq 2',
      'a sub -1 eq 2',
      'a mul b gt 3',
      'a div 2 lt 1',
      'a mod 2 eq 0',
      '-a lt 0',
      '-(a add 1) lt 0',
      'a add b mul c eq 7',
      '(a add b) mul c eq 9',
    ],
    not: ['a + 1 eq 2', 'a add eq 2', 'add 1 eq 2', 'a * 2 eq 4', 'a eq 1 add'],
  },
  {
    rule: 'functions',
    made: [
      "contains(a,'x')",
      "startswith(a, 'x')",
      "endswith( a , 'x' )",
      'length(a) eq 3',
      "indexof(a,'x') eq 1",
      "substring(a,1) eq 'x'",
      "substring(a,1,2) eq 'x'",
      "tolower(toupper(trim(a))) eq 'x'",
      "concat(concat(a,', '),b) eq 'x'",
      'year(d) eq 2026',
      'date(d) eq 2026-01-01',
      'round(a) eq 1',
    ],
    not: [
      'contains(a)',
      "contains(a,'x','y')",
      "contains a,'x'",
      "contains(a 'x')",
      "contains(a,'x'",
      "Contains(a,'x')",
      'unknown(a) eq 1',
      'length() eq 1',
      'contains(,)',
    ],
  },
  {
    rule: 'paths and lambdas',
    made: [
      "a/b eq 'x'",
      'a/b/c eq 1',
      'a/any()',
      'a/any(x:x/b eq 1)',
      'a/all(x: x/b eq 1 and x/c eq 2)',
      'a/b/any(x:x/c/any(y:y/d eq x/e))',
      '$it/a eq 1',
      '@p eq a',
      '_a eq 1',
    ],
    not: [
      'a//b eq 1',
      '/a eq 1',
      'a/ eq 1',
      'a/all()',
      'a/any(x)',
      'a/any(x:)',
      'a/any(:x/b eq 1)',
      '1a eq 1',
      'a-b eq 1x',
    ],
  },
  { rule: 'nothing', made: [], not: ['', ' ', '\t', '#', 'a eq \0'] },
]

const orders: readonly Rule[] = [
  {
    rule: 'orderby',
    made: [
      'a',
      'a asc',
      'a desc',
      'a,b desc',
      'a , b',
      'a/b desc',
      'tolower(a) desc',
      'a add b',
      'length(a) mul 2 asc,b',
      "contains(a,'x')",
    ],
    not: ['', 'a up', 'a desc asc', 'a,,b', ',a', 'a,', 'a b', 'desc desc desc', 'a DESC'],
  },
]

const invoice = `companies(${id})/salesInvoices(${id})`
const rows = `companies(${id})/customers`

/** The whole request: address and options. */
const addresses: readonly Rule[] = [
  {
    rule: 'resource path',
    made: [
      '',
      '$metadata',
      'companies',
      `companies(${id})`,
      `companies(id=${id})`,
      rows,
      `${rows}/$count`,
      `${rows}(${id})/displayName`,
      `${rows}(${id})/displayName/$value`,
      `${rows}(number='a''b')`,
      `${rows}(number='a%2Fb')`,
      `${invoice}/salesInvoiceLines`,
      `${invoice}/salesInvoiceLines/$count`,
      `${invoice}/customer`,
    ],
    not: [
      'nothing',
      `companies(${id}`,
      `companies(${id}))`,
      `companies('${id}'`,
      'companies()/customers',
      `${rows}(number=)`,
      `${rows}(number='a',number='b')`,
      `${rows}/displayName`,
      `${rows}(${id})/$count`,
      `${rows}(${id})/displayName/$count`,
      `${invoice}//salesInvoiceLines`,
      `${rows}(%zz)`,
      `$metadata/customers`,
    ],
  },
  {
    rule: 'select',
    made: ['number', 'number,displayName', 'number, displayName', '*', 'number,*'].map(
      (one) => `${rows}?$select=${one}`,
    ),
    not: ['', 'nothing', 'number,,id', 'number;id', 'number/id'].map(
      (one) => `${rows}?$select=${one}`,
    ),
  },
  {
    rule: 'expand',
    made: [
      'customer',
      'customer,currency',
      '*',
      'salesInvoiceLines($select=sequence)',
      'salesInvoiceLines($filter=quantity gt 1;$orderby=sequence desc;$top=2;$skip=1;$count=true)',
      "salesInvoiceLines($filter=contains(description,';)'))",
      'salesInvoiceLines($expand=item($select=number))',
    ].map((one) => `${invoice}?$expand=${one}`),
    not: [
      '',
      'nothing',
      'customer,customer',
      'customer(',
      'customer)',
      'customer($select=nothing)',
      'customer($nothing=1)',
      'salesInvoiceLines($top=1;$top=2)',
      'salesInvoiceLines($filter= quantity gt 1)',
    ].map((one) => `${invoice}?$expand=${one}`),
  },
  {
    rule: 'top, skip, count, format',
    made: [
      '$top=0',
      '$top=5&$skip=10',
      '$count=true',
      '$count=false',
      '$format=json',
      '$format=application/json;odata.metadata=full',
      '@a=1',
      'custom=x&$top=1',
    ].map((one) => `${rows}?${one}`),
    not: [
      '$top=-1',
      '$top=a',
      '$top=',
      '$top=1.5',
      '$skip=-1',
      '$count=yes',
      '$count=',
      '$format=xml',
      '$top=1&$top=2',
      '$nothing=1',
    ].map((one) => `${rows}?${one}`),
  },
  {
    rule: 'filter',
    made: [
      "$filter=number eq '1'",
      "$filter=number%20eq%20'1'",
      "$filter=number+eq+'1'",
      "$filter=number eq @n&@n='1'",
    ].map((one) => `${rows}?${one}`),
    not: [
      "$filter= number eq '1'",
      "$filter=number eq '1",
      '$filter=',
      "$filter=nothing eq '1'",
      '$filter=number',
      '$filter=number eq 5',
      '$filter=number eq @n&@n=x eq 1',
    ].map((one) => `${rows}?${one}`),
  },
]

function isRead(address: string): boolean {
  const [path = '', ...search] = address.split('?')
  try {
    parseRequest(
      businessModel,
      'Vendor',
      {
        method: 'GET',
        version: 'v2.0',
        path,
        search: search.join('?'),
        headers: {},
        body: undefined,
        // Parsing does not use the principal.
        principal: {} as Parameters<typeof parseRequest>[2]['principal'],
        correlationId: 'c',
      },
      0,
    )
    return true
  } catch (error) {
    assert.ok(error instanceof ApiError, `${address}: ${error}`)
    assert.ok(error.status === 400 || error.status === 404, `${address}: ${error.status}`)
    return false
  }
}

const readers: readonly (readonly [string, readonly Rule[], (text: string) => boolean])[] = [
  ['expressions', expressions, (text) => parseFilter(text, strictProfile).ok],
  ['orders', orders, (text) => parseOrder(text, strictProfile).ok],
  ['addresses', addresses, isRead],
]

for (const [name, rules, read] of readers) {
  test(`the grammar's ${name}`, () => {
    const wrong = rules.flatMap(({ rule, made, not }) => [
      ...made.filter((text) => !read(text)).map((text) => `${rule}: refused ${text}`),
      ...not.filter((text) => read(text)).map((text) => `${rule}: taken ${text}`),
    ])
    assert.deepEqual(wrong, [])
  })
}
