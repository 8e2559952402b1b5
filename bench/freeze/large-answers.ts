/** Hostile requests whose answers are large, and clients that do not read them. */

import { type FreezeFixture, get, type Hostile } from './hostile.ts'

/** Answers as large as allowed: alone, concurrently, and to clients that do not read them. */
export function largeAnswers({
  companyId,
  invoiceId,
  tallInvoiceId,
  largeProfiles,
}: FreezeFixture): readonly Hostile[] {
  const customers = get(
    'page of 15,000 customers',
    `/api/v2.0/companies(${companyId})/customers?$top=15000`,
  )
  const profiles = get('page of 60 resources of 480 KB', `${largeProfiles}&$top=1000`)
  const page: Hostile = {
    ...get(
      'printed page of 5,700 lines',
      `/api/v2.0/companies(${companyId})/salesInvoices(${invoiceId})`,
    ),
    headers: { accept: 'text/html' },
  }
  const pdf = (name: string, id: string): Hostile =>
    get(name, `/api/v2.0/companies(${companyId})/salesInvoices(${id})/pdfDocument/content`)
  const tall = pdf('PDF of 5,700 lines of two pages each', tallInvoiceId)
  const volume = (count: number): Hostile => {
    const secret = Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'QUFB']))
    const properties = { ...largeProfile(1), volumes: [{ name: 'many', secret }] }
    return {
      name: `secret volume of ${count} keys`,
      method: 'PUT',
      path: largeProfiles.replace('?', '/many?'),
      body: JSON.stringify({ location: 'local', properties }),
      expects: 400,
    }
  }
  return [
    volume(19_000),
    volume(80_000),
    profiles,
    page,
    { ...page, name: 'fifty printed pages of 5,700 lines at once', atOnce: 50 },
    { ...page, name: 'sixty that do not read: a printed page of 5,700 lines', ...unread },
    pdf('PDF of 5,700 lines', invoiceId),
    tall,
    { ...tall, name: 'twenty PDFs of 5,700 lines of two pages each at once', atOnce: 20 },
    { ...profiles, name: 'fifty pages of 60 resources of 480 KB at once', atOnce: 50 },
    { ...customers, name: 'fifty pages of 15,000 customers at once', atOnce: 50 },
    { ...profiles, name: 'sixty that do not read: 60 resources of 480 KB', ...unread },
    { ...customers, name: 'sixty that do not read: 15,000 customers', ...unread },
    { ...get('sixty that do not read: a document', '/openapi/Vendor.Resources'), ...unread },
  ]
}

const unread = { atOnce: 60, isUnread: true } as const

/** The properties of a profile with this many long texts. */
export function largeProfile(texts: number): object {
  const command = Array.from({ length: texts }, () => 'x'.repeat(120_000))
  const resources = { requests: { cpu: 1, memoryInGB: 1 } }
  return {
    osType: 'Linux',
    containers: [{ name: 'one', properties: { image: 'any', command, resources } }],
  }
}
