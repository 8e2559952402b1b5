/** What a company tells of itself on its documents (business facts 14). Shape only; there is one of each company. */

import { logoLengthMax } from '../documents/logo.ts'
import { boolean, defineEntity, type Entity, guid, moment, text } from '../entity.ts'
import * as tables from '../tables.ts'

const never = { write: 'never' } as const
/** Ours: the template of its documents. */
const added = { isAdded: true } as const

export const companyInformation: Entity = defineEntity({
  set: 'companyInformation',
  type: 'companyInformation',
  table: tables.companyInformation,
  versions: ['v2.0'],
  fields: [
    guid('id', never),
    text('displayName', 100),
    text('addressLine1', 100),
    text('addressLine2', 50),
    text('city', 30),
    text('state', 30),
    text('country', 10),
    text('postalCode', 20),
    text('phoneNumber', 30),
    text('faxNumber', 30),
    text('email', 80),
    text('website', 80),
    text('taxRegistrationNumber', 20),
    text('currencyCode', 10, { ...never, column: 'local_currency_code', join: 'company' }),
    text('industry', 30),
    moment('lastModifiedDateTime', never),
    text('logo', logoLengthMax, added),
    text('documentColor', 7, added),
    text('documentFooter', 500, added),
    boolean('documentTaxTotalOnly', added),
    text('bankName', 100, added),
    text('iban', 42, added),
    text('swiftCode', 20, added),
  ],
  joins: [
    {
      name: 'company',
      table: tables.companies,
      on: [{ foreign: 'id', local: { column: 'company_id' } }],
    },
  ],
  allows: { create: false, change: true, delete: false },
  defaultOrder: ['id'],
})
