/** Transactions as resources: one by its id below a profile, and five lists. */

import Type from 'typebox'
import type { Action } from '#plane/declare/action.ts'
import { added } from '#plane/declare/added.ts'
import { defineComputed, type Source } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { billingVersion } from '../../domain/entity.ts'
import type { Ledger } from '../../domain/ledger/ledger.ts'
import { entryAnswer } from '../../domain/ledger/show.ts'
import { findEntry, patchTags, showTransaction } from '../../domain/transactions/find.ts'
import { listOfInvoice, listOfProfile } from '../../domain/transactions/list.ts'

const tagsBody = Type.Object({
  tags: Type.Record(Type.String(), Type.String(), {
    description: 'All of them: what is left out goes.',
  }),
})

export function transactions(
  ledger: Ledger,
  actions: Readonly<Record<string, Action<object>>>,
): readonly ResourceType[] {
  const answer = added(entryAnswer(ledger.words))
  const ofInvoice = ['filter', 'orderBy', 'search', 'top', 'skip', 'count']
  const ofProfile = { list: [...ofInvoice, 'type', 'periodStartDate', 'periodEndDate'] }
  const lists = (type: string, description: string, source: Source): ResourceType =>
    defineComputed({
      type,
      description,
      scope: 'tenant',
      query: type.includes('/invoices/') ? { list: ofInvoice } : ofProfile,
      apiVersions: [billingVersion],
      answer,
      source,
    })
  const profile = 'Billing/billingAccounts/billingProfiles'
  return [
    defineComputed({
      type: `${profile}/transactions`,
      description: 'Purchases, refunds, credits and usage charges of a billing profile.',
      scope: 'tenant',
      query: ofProfile,
      apiVersions: [billingVersion],
      answer,
      source: {
        async get({ id }) {
          const entry = await findEntry(ledger, id)
          return entry === undefined ? undefined : showTransaction(ledger, entry)
        },
        list: (context) => listOfProfile(ledger, context),
        patch: {
          body: tagsBody,
          apply: (context, { tags }: { readonly tags: unknown }) =>
            patchTags(ledger, context, tags),
        },
      },
      actions,
    }),
    lists('Billing/billingAccounts/invoices/transactions', 'The transactions of an invoice.', {
      list: (context) => listOfInvoice(ledger, context),
    }),
    lists(`${profile}/customers/transactions`, 'The transactions for a customer.', {
      list: (context) => listOfProfile(ledger, context, 'customerId'),
    }),
    lists(`${profile}/invoiceSections/transactions`, 'The transactions of an invoice section.', {
      list: (context) => listOfProfile(ledger, context, 'invoiceSectionId'),
    }),
  ]
}
