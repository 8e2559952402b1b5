/** The section of an invoice that shows the usage of a subscription. */

import type { ResourceId } from '#kernel/resource-id.ts'
import type { Reader } from '#plane/declare/resource.ts'
import type { InvoiceSection } from '../resources/invoice-sections/resource.ts'

const sectionsMax = 500

export interface Section {
  readonly id: string
  readonly model: InvoiceSection
}

export async function sectionsOf(
  reader: Pick<Reader, 'list'>,
  profile: ResourceId | string,
): Promise<readonly Section[]> {
  const type = 'Billing/billingAccounts/billingProfiles/invoiceSections'
  const rows = await reader.list({ type, under: profile, limit: sectionsMax })
  // The type's `toModel` made the rows.
  return rows.map(({ id, model }) => ({ id: id.text, model: model as InvoiceSection }))
}

/** The one that names the subscription, else the default one. */
export function sectionFor(
  sections: readonly Section[],
  subscription: string | undefined,
): Section | undefined {
  const named = subscription?.toLowerCase()
  return (
    sections.find(({ model }) =>
      model.subscriptionIds?.some((one) => one.toLowerCase() === named),
    ) ?? sections.find((one) => one.id.toLowerCase().endsWith('/invoicesections/default'))
  )
}
