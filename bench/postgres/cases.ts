/**
 * What is sent to every server of the comparison of stores, and what must be there for it. Requests and rows are those of the
 * scenarios that measure these lists and lines by themselves; there are fewer rows, as PostgreSQL takes longer to fill.
 */

import { invoice, seedLedger } from '../billing/seed.ts'
import { businessPath, openCompany } from '../business/books.ts'
import { type Access, firstPageCase, requestsOf } from '../contestants/armature.ts'
import { getCase, putCase } from '../contestants/peers.ts'
import { seedEvents } from '../health/seed.ts'
import type { Requests } from '../load/job.ts'
import type { Place } from '../scenario.ts'

export const count = 10_000
const transactions = 20_000
const events = 10_000
const subscriptions = 5_000
/** Lines are added to them by chance: writers to one document wait for each other. */
const documents = 200
const linesEach = 10

/** In the order in which they are measured: lines are the only rows that become more. */
export const loadCases = [
  getCase,
  putCase,
  firstPageCase,
  'transactions page',
  'events page',
  'sales line',
] as const

export type LoadCase = (typeof loadCases)[number]

/** While nothing is started. */
export async function seedLists(
  database: string,
  { tenantId, subscriptionId }: Access,
): Promise<void> {
  await seedLedger(database, tenantId, transactions)
  await seedEvents({
    database,
    events,
    subscriptions,
    asked: subscriptionId,
    now: Date.now(),
  })
}

/** The requests of all cases to a started server, for which it gets its company. */
export async function requestsAt(
  place: Place,
  access: Access,
): Promise<Readonly<Record<LoadCase, Requests>>> {
  const { tenantId, subscriptionId, headers } = access
  const get = (path: string): Requests => ({ method: 'GET', paths: [path], headers, expects: 200 })
  return {
    ...requestsOf(access, count),
    'transactions page': get(
      `/providers/Vendor.Billing/billingAccounts/${tenantId}/invoices/${invoice}/transactions?api-version=2024-04-01`,
    ),
    'events page': get(
      `/subscriptions/${subscriptionId}/providers/Vendor.ResourceHealth/events?api-version=2025-05-01`,
    ),
    'sales line': await lines(place, headers),
  }
}

async function lines(place: Place, headers: Access['headers']): Promise<Requests> {
  const company = await openCompany(place, headers)
  const opened: Awaited<ReturnType<typeof company.open>>[] = []
  while (opened.length < documents) opened.push(await company.open(linesEach))
  return {
    method: 'POST',
    paths: opened.map(({ lines: path }) => `${businessPath}/${path}`),
    headers,
    body: JSON.stringify(opened[0]?.line),
    expects: 201,
  }
}
