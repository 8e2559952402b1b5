/** What the caller may do at an account, a profile or a section, as clients of billing ask it. Computed from their roles. */

import Type from 'typebox'
import { qualify } from '#kernel/vendor.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { billingVersion } from '../../domain/entity.ts'

const account = 'Billing/billingAccounts'
const profile = `${account}/billingProfiles`
const section = `${profile}/invoiceSections`
const actions = [
  ...[account, profile, section, `${profile}/customers`, `${account}/products`].flatMap((type) => [
    `${type}/read`,
    `${type}/write`,
  ]),
  `${account}/invoices/read`,
  `${profile}/transactions/read`,
  `${profile}/transactions/refund/action`,
]

export function billingPermissions(): readonly ResourceType[] {
  return [account, profile, section].map((at) =>
    defineComputed({
      type: `${at}/billingPermissions`,
      description: 'What the caller may do there.',
      scope: 'tenant',
      apiVersions: [billingVersion],
      bare: true,
      answer: Type.Object({
        actions: Type.Array(Type.String()),
        notActions: Type.Array(Type.String()),
      }),
      source: {
        async list({ parent, may, words }) {
          const allowed = await Promise.all(actions.map((action) => may(action, parent)))
          const named = actions.filter((_action, at) => allowed[at])
          const shown = named.map((action) => qualify(words, action))
          return { items: [{ actions: shown, notActions: [] }] }
        },
      },
    }),
  )
}
