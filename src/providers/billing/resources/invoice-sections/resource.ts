/** Invoice sections: parts of an invoice. */

import Type, { type Static } from 'typebox'
import { billingEntity, labels, title } from '../../domain/entity.ts'
import { entityName } from '../../domain/names.ts'
import { sectionStanding } from '../../domain/standing.ts'

const sectionProperties = Type.Object({
  displayName: title,
  subscriptionIds: Type.Optional(
    Type.Array(Type.String({ maxLength: 36 }), {
      maxItems: 1000,
      description: 'Subscriptions whose usage is charged here; what none names goes to `default`.',
    }),
  ),
  labels,
  tags: labels,
})
export type InvoiceSection = Static<typeof sectionProperties>

export const invoiceSections = billingEntity({
  type: 'Billing/billingAccounts/billingProfiles/invoiceSections',
  description: 'Parts of an invoice, with the subscriptions whose usage they show.',
  name: entityName,
  answers: { created: { status: 200 } },
  properties: sectionProperties,
  standing: sectionStanding,
  sample: { displayName: 'Sample' },
  changed: { displayName: 'Sample, changed' },
})
