/** The same queries for PostgreSQL directly: one flat table with the same rows, and an index for each order. */

import pg from 'pg'
import { findPostgres, startPostgres } from '../../src/stores/testing/postgres-server.ts'

const columns = 'id, date, quantity, sub_total, tax, amount, product, family, customer, section'

const setUp = (rows: number): readonly string[] => [
  `create table transactions (id bigint primary key, date timestamptz not null, quantity int not null,
     sub_total numeric not null, tax numeric not null, amount numeric not null, product text not null,
     family text not null, customer text not null, section text not null)`,
  `insert into transactions
   select i, timestamptz '2026-09-01Z' + make_interval(secs => (i * 37) % 2592000), q, s, round(s * 0.19, 2),
     s + round(s * 0.19, 2), 'Product ' || i % 97 || ' of the catalogue', 'Family ' || i % 97 % 9,
     'Customer ' || i % 40, 'Section ' || i % 5
   from (select i, 1 + (i * 7919) % 50 as q, ((1 + (i * 7919) % 50) * (i % 97 + 1) * 0.13)::numeric as s
         from generate_series(0::bigint, ${rows - 1}) i) made`,
  'create index on transactions (date desc, id desc)',
  'create index on transactions (amount desc, id desc)',
  'create index on transactions (sub_total)',
  'create index on transactions (product, date)',
  'vacuum analyze transactions',
]

const page = (where = '', order = 'date desc, id desc'): string =>
  `select ${columns} from transactions ${where} order by ${order} limit 50`
const words = "lower(concat_ws(' ', product, family, customer, section))"

/** By the same names as ours. */
export const statements: Readonly<Record<string, readonly string[]>> = {
  'first page': [page()],
  'first page and count': [page(), 'select count(*) from transactions'],
  'filter: one product': [page("where product = 'Product 5 of the catalogue'")],
  'filter: the rare large ones': [page('where sub_total > 600')],
  'filter: half of all': [page('where quantity > 25')],
  'order: largest first': [page('', 'amount desc, id desc')],
  'order: product, then date': [page('', 'product, date')],
  'order: amount, then quantity, then date': [page('', 'amount desc, quantity, date')],
  'search: two words': [
    page(`where ${words} like '%product%' and ${words} like '%13%' and ${words} like '%customer%'`),
  ],
}

export interface Peer extends AsyncDisposable {
  ask(texts: readonly string[]): Promise<void>
  /** By offset, as most clients of a database do. */
  askPage(number: number): Promise<void>
  /** By the key of the last row, as ours. Returns the milliseconds of each of the first `count` pages. */
  followPages(count: number): Promise<readonly number[]>
}

/** Undefined if this machine has no PostgreSQL. */
export async function startPeer(rows: number): Promise<Peer | undefined> {
  if (findPostgres() === undefined) return undefined
  const server = await startPostgres()
  const client = new pg.Client({ connectionString: await server.createDatabase() })
  await client.connect()
  for (const text of setUp(rows)) await client.query(text)
  return {
    async ask(texts) {
      for (const text of texts) JSON.stringify((await client.query(text)).rows)
    },
    async askPage(number) {
      JSON.stringify((await client.query(`${page()} offset ${number * 50}`)).rows)
    },
    async followPages(count) {
      const times: number[] = []
      let last: Readonly<Record<string, unknown>> | undefined
      for (let number = 0; number < count; number++) {
        const began = performance.now()
        const { rows: found } = await (last === undefined
          ? client.query(page())
          : client.query(page('where (date, id) < ($1, $2)'), [last['date'], last['id']]))
        JSON.stringify(found)
        times.push(performance.now() - began)
        last = found.at(-1)
      }
      return times
    },
    async [Symbol.asyncDispose]() {
      await client.end()
      await server.stop()
    },
  }
}
