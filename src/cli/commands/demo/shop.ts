/**
 * The sample application of the demo: a shop with orders, and its database. It writes continuously, moves to the
 * other server with its database, and then checks that every confirmed order is there.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { openSession, type SessionAddress } from './postgres-session.ts'

export const shopDatabase = 'shop'

/** A few megabytes: keys between tables, a sequence, an identity, a view, an index. */
export const shopSchema = `
  CREATE TABLE customer (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    since date NOT NULL
  );
  CREATE TABLE product (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    price numeric(10, 2) NOT NULL,
    stock int NOT NULL
  );
  CREATE SEQUENCE invoice_number START 10000;
  CREATE TABLE orders (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    customer_id int NOT NULL REFERENCES customer,
    invoice bigint NOT NULL UNIQUE DEFAULT nextval('invoice_number'),
    placed timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE order_line (
    order_id bigint NOT NULL REFERENCES orders,
    line int NOT NULL,
    product_id int NOT NULL REFERENCES product,
    quantity int NOT NULL,
    note text,
    PRIMARY KEY (order_id, line)
  );
  CREATE INDEX order_line_product ON order_line (product_id);
  CREATE VIEW turnover AS
    SELECT o.placed::date AS day, sum(l.quantity * p.price) AS amount
    FROM orders o JOIN order_line l ON l.order_id = o.id JOIN product p ON p.id = l.product_id
    GROUP BY 1;
  INSERT INTO customer (name, since)
    SELECT 'Customer ' || i, date '2020-01-01' + i % 2000 FROM generate_series(1, 2000) i;
  INSERT INTO product (name, price, stock)
    SELECT 'Product ' || i, (i % 90) + 0.99, 1000000 FROM generate_series(1, 500) i;
  INSERT INTO orders (customer_id, placed)
    SELECT 1 + i % 2000, timestamptz '2026-01-01' + i * interval '5 minutes' FROM generate_series(1, 20000) i;
  INSERT INTO order_line (order_id, line, product_id, quantity, note)
    SELECT o, l, 1 + (o * l) % 500, 1 + l, 'line ' || l || ' of order ' || o || repeat('.', 60)
    FROM generate_series(1, 20000) o, generate_series(1, 3) l;
  ANALYZE;
`

/** A small second database, for a migration by the reader. */
export const stockDatabase = 'stock'
export const stockSchema = `
  CREATE TABLE warehouse (id int PRIMARY KEY, town text NOT NULL);
  CREATE TABLE shelf (id serial PRIMARY KEY, warehouse_id int NOT NULL REFERENCES warehouse, goods text);
  INSERT INTO warehouse SELECT i, 'Town ' || i FROM generate_series(1, 10) i;
  INSERT INTO shelf (warehouse_id, goods) SELECT 1 + i % 10, 'Goods ' || i FROM generate_series(1, 1000) i;
`

const placeOrder = `
  WITH placed AS (
    INSERT INTO orders (customer_id) VALUES (1 + (random() * 1999)::int) RETURNING id
  ), lines AS (
    INSERT INTO order_line (order_id, line, product_id, quantity)
    SELECT id, 1, 1 + (random() * 499)::int, 1 FROM placed
  ), sold AS (
    UPDATE product SET stock = stock - 1 WHERE id = 1 + (random() * 499)::int
  )
  SELECT id::text FROM placed`

/** Where the database is now, according to the migration. */
export type ShopLocation = 'source' | 'target' | 'moving'

interface ShopOptions {
  readonly source: SessionAddress
  readonly target: SessionAddress
  whereabouts(): Promise<ShopLocation>
  /** Prints a line for the reader. */
  say(text: string): void
}

interface Shop extends AsyncDisposable {
  /** The number of confirmed orders. */
  readonly confirmed: () => number
}

const betweenOrdersMilliseconds = 40
const waitMilliseconds = 50
/** The number of the last orders before the move that are looked for after it. */
const rememberedMax = 5_000

export function openShop({ source, target, whereabouts, say }: ShopOptions): Shop {
  let confirmed = 0
  let isOpen = true
  let remembered: string[] = []
  let shutOutAt: bigint | undefined

  /** Sends orders until the server refuses one. */
  const sell = async (at: SessionAddress): Promise<void> => {
    const session = await openSession(at)
    try {
      while (isOpen && session !== undefined) {
        const [row] = await session.run(placeOrder)
        remembered.push(String(row?.['id']))
        if (remembered.length > 2 * rememberedMax) remembered = remembered.slice(-rememberedMax)
        confirmed++
        shutOutAt = undefined
        await sleep(betweenOrdersMilliseconds)
      }
    } catch {
      // When the session is refused or ended, the application tries again where its database is by then.
      shutOutAt ??= process.hrtime.bigint()
    }
    await session?.end()
    await sleep(waitMilliseconds)
  }

  const check = async (): Promise<void> => {
    const found = await openSession(target)
    const wanted = remembered.slice(-rememberedMax)
    const rows = await found?.run(
      'SELECT count(*)::int AS found FROM orders WHERE id = ANY($1::bigint[])',
      [wanted],
    )
    await found?.end()
    say(
      `Of the last ${wanted.length} orders confirmed at the source, the target has ${rows?.[0]?.['found']}.`,
    )
  }

  const work = async (): Promise<void> => {
    for (let where: ShopLocation = 'source'; isOpen; where = await whereabouts()) {
      if (where === 'source') await sell(source)
      else if (where === 'target') break
      else await sleep(waitMilliseconds)
    }
    if (!isOpen) return
    const since = shutOutAt ?? process.hrtime.bigint()
    const seconds = Number(process.hrtime.bigint() - since) / 1e9
    say(`The shop was shut out, and is at the target ${seconds.toFixed(1)} s later.`)
    await check()
    while (isOpen) await sell(target)
  }
  const working = work()
  return {
    confirmed: () => confirmed,
    async [Symbol.asyncDispose]() {
      isOpen = false
      await working
    },
  }
}
