/** The meaning of filters by examples, and filters that do not fit their fields. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileFilter } from './evaluate.ts'
import { collection, type FieldMap, fieldsOfRows } from './field-map.ts'
import { parseFilter } from './parse.ts'
import { type FilterProfile, lenientProfile, strictProfile, withFunctions } from './profile.ts'

interface Line {
  readonly name: string
  readonly amount: number
}

interface Sale {
  readonly id: string
  readonly number: string
  readonly total: number | null
  readonly quantity: number
  readonly posted: string | null
  readonly open: boolean | null
  readonly status: string
  readonly colour: string
  readonly customer: string | null
  readonly lead: string
  readonly lines: readonly Line[]
  readonly labels: readonly string[]
}

const sale: Sale = {
  id: '6f9619ff-8b86-d011-b42d-00c04fc964ff',
  number: 'S-100',
  total: 250.5,
  quantity: 7,
  posted: '2026-11-20T10:30:15.250Z',
  open: true,
  status: 'Open',
  colour: 'Red,Blue',
  customer: "O'Neil",
  lead: 'PT36H',
  lines: [
    { name: 'bolt', amount: 3 },
    { name: 'nut', amount: 12 },
  ],
  labels: ['urgent', 'export'],
}
const bare: Sale = { ...sale, total: null, posted: null, open: null, customer: null, lines: [] }

const saleFields: FieldMap<Sale> = {
  fields: {
    id: { type: 'guid', read: (s) => s.id },
    number: { type: 'string', read: (s) => s.number },
    total: { type: 'number', read: (s) => s.total },
    quantity: { type: 'number', integer: true, read: (s) => s.quantity },
    posted: { type: 'dateTime', read: (s) => s.posted },
    open: { type: 'boolean', read: (s) => s.open },
    status: { type: 'enum', values: ['Open', 'Draft', 'Paid'], read: (s) => s.status },
    colour: { type: 'enum', values: ['Red', 'Green', 'Blue'], read: (s) => s.colour },
    'customer/name': { type: 'string', read: (s) => s.customer },
    lead: { type: 'duration', read: (s) => s.lead },
  },
  collections: {
    lines: collection((s) => s.lines, {
      fields: {
        name: { type: 'string', read: (l: Line) => l.name },
        amount: { type: 'number', read: (l: Line) => l.amount },
      },
    }),
    labels: collection((s) => s.labels, {
      fields: {},
      self: { type: 'string', read: (l: string) => l },
    }),
  },
}

function holds<T>(
  text: string,
  fields: FieldMap<T>,
  item: T,
  profile: FilterProfile = strictProfile,
): boolean {
  const parsed = parseFilter(text, profile)
  assert.ok(parsed.ok, parsed.ok ? '' : `${text}: ${parsed.message}`)
  const compiled = compileFilter(parsed.node, fields)
  assert.ok(compiled.ok, compiled.ok ? '' : `${text}: ${compiled.message}`)
  return compiled.matches(item)
}

/** [filter, result for the full sale, result for the bare one] */
const strictTable: readonly (readonly [string, boolean, boolean])[] = [
  ["number eq 'S-100'", true, true],
  ["number eq 's-100'", false, false],
  ["'S-100' eq number", true, true],
  ["number in ('A','S-100')", true, true],
  ["not (number in ('A','S-100'))", false, false],
  ["not number in ('A','S-100')", false, false],
  ['total eq 250.5', true, false],
  ['total ne 250.5', false, true],
  ['total gt 250 and total lt 251', true, false],
  ['total ge 250.5 and total le 250.5', true, false],
  ['total lt 1e3', true, false],
  ['total gt -1', true, false],
  ['total gt INF', false, false],
  ['total gt -INF', true, false],
  ['total eq NaN', false, false],
  ['total add 1 eq 251.5', true, false],
  ['total sub 0.5 mul 2 eq 249.5', true, false],
  ['(total sub 0.5) mul 2 eq 500', true, false],
  ['- total eq -250.5', true, false],
  ['quantity div 2 eq 3', true, true],
  ['quantity divby 2 eq 3.5', true, true],
  ['quantity mod 4 eq 3', true, true],
  ['quantity div 0 eq 1', false, false],
  ['quantity div 0 eq null', true, true],
  // Precedence: `and` before `or`, whatever the order in the text.
  ["number eq 'S-100' or number eq 'x' and number eq 'y'", true, true],
  ["number eq 'x' and number eq 'y' or number eq 'S-100'", true, true],
  ["(number eq 'S-100' or number eq 'x') and number eq 'y'", false, false],
  // Null.
  ['null eq null', true, true],
  ['null ne null', false, false],
  ['total eq null', false, true],
  ['total ne null', true, false],
  ['null gt 1', false, false],
  ['total ge null', false, false],
  ['not (total gt 1)', false, true],
  ["contains(customer/name,'N')", true, false],
  ["not contains(customer/name,'X')", true, false],
  ["contains(customer/name,'N') or number eq 'S-100'", true, true],
  ["contains(customer/name,'N') eq null", false, true],
  // Booleans.
  ['open', true, false],
  ['not open', false, false],
  ['open eq true', true, false],
  ['open ne false', true, true],
  ['true', true, true],
  ['(total gt 1) eq true', true, false],
  // Strings and their functions.
  ["customer/name eq 'O''Neil'", true, false],
  ["startswith(number,'S-') and endswith(number,'00')", true, true],
  ["substringof('-1',number)", true, true],
  ["tolower(number) eq 's-100' and toupper('a') eq 'A'", true, true],
  ["trim(' S-100 ') eq number", true, true],
  ["concat(concat(number,'/'),'x') eq 'S-100/x'", true, true],
  ['length(number) eq 5', true, true],
  ["indexof(number,'1') eq 2", true, true],
  ["substring(number,2) eq '100' and substring(number,2,1) eq '1'", true, true],
  ["substring(number,-5,1) eq 'S'", true, true],
  // GUIDs: bare, any case.
  ['id eq 6f9619ff-8b86-d011-b42d-00c04fc964ff', true, true],
  ['id eq 6F9619FF-8B86-D011-B42D-00C04FC964FF and open', true, false],
  // Moments: bare.
  ['posted ge 2026-11-20', true, false],
  ['posted lt 2026-11-20T10:30:15.251Z', true, false],
  ['posted eq 2026-11-20T11:30:15.25+01:00', true, false],
  ['date(posted) eq 2026-11-20', true, false],
  ['time(posted) ge 10:30:15', true, false],
  ['year(posted) eq 2026 and month(posted) eq 11 and day(posted) eq 20', true, false],
  ['hour(posted) eq 10 and minute(posted) eq 30 and second(posted) eq 15', true, false],
  ["posted sub duration'P1D' lt 2026-11-20", true, false],
  ["posted sub 2026-11-20 gt duration'PT10H30M'", true, false],
  ["lead eq duration'P1DT12H'", true, true],
  ['year(2026-01-05) eq 2026', true, true],
  // Rounding: halves away from zero.
  ['round(2.5) eq 3 and round(-2.5) eq -3', true, true],
  ['floor(total) eq 250 and ceiling(total) eq 251', true, false],
  // Enumerations.
  ["status eq 'Open'", true, true],
  ["status eq Sales.Status'Open'", true, true],
  ["status in ('Draft','Paid')", false, false],
  ["colour has Sales.Colour'Blue'", true, true],
  ["colour has 'Green'", false, false],
  ["colour has 'Blue,Red'", true, true],
  // Lambdas, with and without blanks.
  ["lines/any(l:l/name eq 'nut')", true, false],
  ["lines/any( l : l/name eq 'nut' and l/amount gt 10 )", true, false],
  ["lines/any(l: l/name eq 'bolt' and l/amount gt 10)", false, false],
  ['lines/all(l: l/amount gt 2)', true, true],
  ['lines/all(l: l/amount gt 3)', false, true],
  ['lines/any()', true, false],
  ['lines/$count eq 2', true, false],
  ["labels/any(l: l eq 'urgent')", true, true],
  ["labels/any(l: l in ('a','export')) and $it/open", true, false],
  ["labels/any(l: lines/any(x: concat(x/name,l) eq 'nuturgent'))", true, false],
  ["lines/any(l: l/amount gt quantity and $it/number eq 'S-100')", true, false],
  ['lines/any(l: l/amount div 5 eq 2.4)', true, false],
]

test('every strict form means what OData says', () => {
  for (const [text, full, other] of strictTable) {
    assert.equal(holds(text, saleFields, sale), full, `full: ${text}`)
    assert.equal(holds(text, saleFields, bare), other, `bare: ${text}`)
    // The lenient profile reads everything that the strict one reads, with the same result.
    assert.equal(holds(text, saleFields, sale, lenientProfile), full, `lenient: ${text}`)
  }
})

interface Impact {
  readonly service: string
  readonly regions: readonly string[]
}
interface Event {
  readonly eventType: string
  readonly status: string
  readonly lastUpdateTime: string
  readonly impact: readonly Impact[]
}
const event: Event = {
  eventType: 'ServiceIssue',
  status: 'Active',
  lastUpdateTime: '2026-01-17T08:00:00Z',
  impact: [
    { service: 'Virtual Machines', regions: ['West US', 'East US'] },
    { service: 'Storage', regions: ['North Europe'] },
  ],
}
const eventFields: FieldMap<Event> = {
  lenient: true,
  optionalPrefix: 'properties',
  fields: {
    eventType: {
      type: 'enum',
      values: ['ServiceIssue', 'PlannedMaintenance'],
      read: (e) => e.eventType,
    },
    status: { type: 'string', ignoreCase: true, read: (e) => e.status },
    lastUpdateTime: { type: 'dateTime', read: (e) => e.lastUpdateTime },
    ...fieldsOfRows<Event, Impact>(
      { of: (e) => e.impact, together: false },
      { service: { type: 'string', ignoreCase: true, read: (i) => i.service } },
    ),
    ...fieldsOfRows<Event, string>(
      { of: (e) => e.impact.flatMap((i) => i.regions), together: false },
      { region: { type: 'string', ignoreCase: true, read: (r) => r } },
    ),
  },
}

test('filters over health events (facts 7.2)', () => {
  const table: readonly (readonly [string, boolean])[] = [
    ["service eq 'Virtual Machines' or region eq 'West US'", true],
    ["service eq 'virtual machines' and region eq 'north europe'", true],
    ["service eq 'Storage' and service eq 'Virtual Machines'", true],
    ["service eq 'Nothing'", false],
    ["service ne 'Storage'", false],
    ["service ne 'Nothing'", true],
    ["not (service eq 'Storage')", false],
    ["service in ('Nothing','STORAGE')", true],
    ["startswith(region,'west')", true],
    [
      "Properties/EventType eq 'ServiceIssue' or Properties/EventType eq 'PlannedMaintenance'",
      true,
    ],
    ["eventType eq 'serviceissue' and status eq 'ACTIVE'", true],
    ["PROPERTIES/eventtype NE 'PlannedMaintenance'", true],
    ["EventType EQ 'ServiceIssue' AND NOT (Status Eq 'Resolved')", true],
    ['properties.lastUpdateTime ge 2026-01-17', true],
    ["lastUpdateTime ge '2026-01-17'", true],
    ["lastUpdateTime ge '1/17/2026'", true],
    ["lastUpdateTime lt '01-18-2026'", true],
    ["lastUpdateTime gt datetime'2026-01-17T08:00:00'", false],
    ['lastUpdateTime ge 2026-01-17T08:00:00', true],
    ["StartsWith(Status,'act')", true],
  ]
  for (const [text, want] of table) {
    assert.equal(holds(text, eventFields, event, lenientProfile), want, text)
  }
})

interface Item {
  readonly name: string
  readonly principalId: string
  readonly tags: Readonly<Record<string, string>>
  readonly own: boolean
}
const item: Item = {
  name: 'Demo-vm',
  principalId: '6f9619ff-8b86-d011-b42d-00c04fc964ff',
  tags: { department: 'sales', cost: 'high' },
  own: true,
}
const itemFields: FieldMap<Item> = {
  lenient: true,
  fields: {
    name: { type: 'string', ignoreCase: true, read: (i) => i.name },
    principalId: { type: 'guid', read: (i) => i.principalId },
    ...fieldsOfRows<Item, readonly [string, string]>(
      { of: (i) => Object.entries(i.tags), together: true },
      {
        tagName: { type: 'string', ignoreCase: true, read: ([name]) => name },
        tagValue: { type: 'string', read: ([, value]) => value },
      },
    ),
  },
  functions: {
    atScope: { parameters: [], result: 'boolean', call: (i) => i.own },
    assignedTo: {
      parameters: ['guid'],
      result: 'boolean',
      call: (i, [id]) => i.principalId === id,
    },
  },
}
const itemProfile = withFunctions(lenientProfile, itemFields.functions ?? {})

test('filters of the resource manager (facts 2.2, 9.8)', () => {
  const id = item.principalId
  const table: readonly (readonly [string, boolean])[] = [
    ["tagName eq 'department' and tagValue eq 'sales'", true],
    // Name and value must belong to one tag.
    ["tagName eq 'department' and tagValue eq 'high'", false],
    ["tagValue eq 'high' and name eq 'demo-vm' and tagName eq 'cost'", true],
    ["tagName eq 'cost' and (tagValue eq 'low' or tagValue eq 'high')", true],
    ["tagName eq 'department' and (tagValue eq 'low' or tagValue eq 'high')", false],
    ["tagName eq 'cost' and tagValue ne 'low'", true],
    ["tagName eq 'cost' and not (tagValue eq 'high')", false],
    ["(tagName eq 'cost' and tagValue eq 'high') or name eq 'x'", true],
    // The row of the parentheses ends with them.
    ["(tagName eq 'x' and tagValue eq 'high') or tagValue eq 'sales'", true],
    ["not (tagName eq 'cost' and tagValue eq 'sales')", true],
    ["tagName ne 'cost'", false],
    // Among other terms it still stands alone: no tag may be that one.
    ["tagName ne 'cost' and name eq 'demo-vm'", false],
    ["tagName ne 'other' and name eq 'demo-vm'", true],
    ["startswith(tagName,'dep')", true],
    ["substringof('demo', name)", true],
    ["substringof('xxx', name)", false],
    ['atScope()', true],
    [`atScope() and principalId eq '${id}'`, true],
    [`AtScope() and assignedTo('${id.toUpperCase()}')`, true],
    [`assignedTo(${id}) and not atScope()`, false],
    [`principalId eq guid'${id}'`, true],
    [`principalId in ('${id}')`, true],
  ]
  for (const [text, want] of table) {
    assert.equal(holds(text, itemFields, item, itemProfile), want, text)
  }
  assert.equal(holds("tagName ne 'cost'", itemFields, { ...item, tags: {} }, itemProfile), true)
})

/** [text, position, expected message] */
const wrongTypes: readonly (readonly [string, number, RegExp])[] = [
  ["total eq '5'", 9, /a number without quotes, found the string/],
  ["'5' lt total", 0, /a number without quotes/],
  ['number eq 5', 10, /text in single quotes/],
  ["open eq 'true'", 8, /true or false without quotes/],
  ['open eq 1', 8, /true or false/],
  ["total in (1,'2')", 12, /a number without quotes/],
  ["id eq 'abc'", 6, /a GUID without quotes/],
  ["posted gt '2026-01-01'", 10, /a date without quotes/],
  ['posted gt 5', 10, /a date without quotes/],
  ["status eq 'Opne'", 10, /one of Open, Draft, Paid, found "Opne"/],
  ["status eq 'open'", 10, /one of/],
  ["status gt 'Open'", 7, /eq, ne or in for an enumeration/],
  ["colour has 'Red,Pink'", 11, /one of Red, Green, Blue/],
  ["number has 'a'", 7, /an enumeration before "has"/],
  ["nmae eq 'a'", 0, /a known field \(colour, customer\/name, .*\), found "nmae"/],
  ["constructor eq 'a'", 0, /a known field/],
  ['number', 0, /a condition .*, found the string/],
  ['total add 1', 6, /a condition/],
  ['not number eq true', 4, /a condition/],
  ['number add 1 eq 2', 7, /numbers around "add"/],
  ["- number eq 'a'", 2, /a number after "-"/],
  ['contains(total,1)', 9, /a string, found a number/],
  ['contains(number,1)', 16, /text in single quotes/],
  ["length(number) eq '5'", 18, /a number/],
  ['total eq number', 9, /something to compare with a number, found a string/],
  ["'a' eq 5", 7, /something to compare with a string/],
  ['year(number) eq 1', 5, /a dateTime, found a string/],
  ['number/any()', 0, /a known collection \(labels, lines\)/],
  ['number/$count eq 1', 0, /a known collection/],
  ['lines eq 1', 0, /a known field/],
  ['lines/any(l: l eq 1)', 13, /a known field \(amount, name\)/],
  ["lines/any(l: l/nme eq 'a')", 13, /a known field/],
  ["lines/any(l: true) and l/name eq 'a'", 23, /a known field/],
]

test('a filter whose types do not fit is refused where they do not', () => {
  for (const [text, position, says] of wrongTypes) {
    const parsed = parseFilter(text, strictProfile)
    assert.ok(parsed.ok, parsed.ok ? '' : `${text}: ${parsed.message}`)
    const compiled = compileFilter(parsed.node, saleFields)
    assert.ok(!compiled.ok, `${text} was accepted`)
    assert.match(compiled.message, says, text)
    assert.equal(compiled.position, position, text)
  }
})

test('a call that the field map does not know is refused, not ignored', () => {
  const parsed = parseFilter('atScope()', itemProfile)
  assert.ok(parsed.ok)
  const compiled = compileFilter(parsed.node, saleFields)
  assert.ok(!compiled.ok)
  assert.match(compiled.message, /a function of this list/)
})

// The runtime's own search compares thousands of characters at each place of a text, again and again: this file would not end.
test('a search takes no longer than its texts are long', () => {
  const half = 'a'.repeat(4_000)
  const part = `${half}b${half}`
  const item = { ...sale, customer: 'a'.repeat(2_000_000) }
  for (const text of [
    `contains(customer/name,'${part}')`,
    `substringof('${part}',customer/name)`,
    `indexof(customer/name,'${part}') ge 0`,
  ]) {
    const parsed = parseFilter(text, lenientProfile)
    assert.ok(parsed.ok)
    const compiled = compileFilter(parsed.node, saleFields)
    assert.ok(compiled.ok)
    for (let row = 0; row < 50; row++) assert.equal(compiled.matches(item), false)
  }
})
