/**
 * What published clients read of an account, a profile and a section besides what was written: how each stands. All of it
 * follows from how this installation bills: nothing is blocked or limited, no mail is sent, and invoices are made once
 * the month is over.
 */

import Type, { type TSchema } from 'typebox'
import { nameOf } from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import { added } from '#plane/declare/added.ts'
import type { View } from '#plane/declare/wire.ts'

type Show = (model: object, view: View) => Readonly<Record<string, unknown>>

export interface Standing {
  readonly answer: Readonly<Record<string, TSchema>>
  readonly show: Show
}

const text = (): ReturnType<typeof added<TSchema>> => added(Type.String({ readOnly: true }))
const yes = (): ReturnType<typeof added<TSchema>> => added(Type.Boolean({ readOnly: true }))
const none = { hasMoreResults: false }
const nested = (): ReturnType<typeof added<TSchema>> =>
  added(
    Type.Object(
      {
        hasMoreResults: Type.Boolean(),
        value: added(Type.Array(Type.Object({}, { additionalProperties: true }))),
      },
      { readOnly: true },
    ),
  )

/** The agreement type between seller and customer, by the kind of the account. */
const agreements: Readonly<Record<string, string>> = {
  Enterprise: 'EnterpriseAgreement',
  Individual: 'OnlineServicesProgram',
  Partner: 'PartnerAgreement',
}

function agreementOf(accountType: unknown, words: VendorWords): string {
  const word = agreements[String(accountType)] ?? 'CustomerAgreement'
  return word === 'EnterpriseAgreement' ? word : `${words.namespace}${word}`
}

export const accountStanding: Standing = {
  answer: {
    accountStatus: text(),
    agreementType: text(),
    hasReadAccess: yes(),
    billingProfiles: nested(),
  },
  show: (model, { words }) => ({
    accountStatus: 'Active',
    agreementType: agreementOf(Reflect.get(model, 'accountType'), words),
    hasReadAccess: true,
    billingProfiles: none,
  }),
}

export const profileStanding: Standing = {
  answer: {
    billingRelationshipType: text(),
    hasReadAccess: yes(),
    invoiceDay: added(Type.Integer({ readOnly: true })),
    invoiceEmailOptIn: yes(),
    invoiceSections: nested(),
    spendingLimit: text(),
    status: text(),
    systemId: text(),
  },
  show: (_model, { id, words }) => ({
    billingRelationshipType: 'Direct',
    [`enabled${words.brand}Plans`]: [],
    hasReadAccess: true,
    invoiceDay: 1,
    invoiceEmailOptIn: false,
    invoiceSections: none,
    spendingLimit: 'Off',
    status: 'Active',
    systemId: nameOf(id),
  }),
}

export const sectionStanding: Standing = {
  answer: { state: text(), systemId: text() },
  show: (_model, { id }) => ({ state: 'Active', systemId: nameOf(id) }),
}
