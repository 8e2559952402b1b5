/**
 * The subscriptions that an account is charged for, each with the section that shows its usage; and what pays for one,
 * asked for at the subscription. Computed.
 */

import Type from 'typebox'
import { childOf, nameOf, parentOf, type ResourceId, rootId, scopeOf } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Context, Resource } from '#plane/declare/resource.ts'
import { billingVersion } from '../../domain/entity.ts'
import { type Section, sectionFor, sectionsOf } from '../../domain/section-of-usage.ts'

const type = 'Billing/billingAccounts/billingSubscriptions'
/** The number of subscriptions that one page looks at. */
const scannedMax = 1000

const text = Type.String()
const answer = Type.Object({
  properties: Type.Object({
    subscriptionId: text,
    displayName: text,
    status: Type.Enum(['Active', 'Disabled']),
    billingProfileId: text,
    billingProfileName: text,
    invoiceSectionId: Type.Optional(text),
    invoiceSectionName: Type.Optional(text),
    invoiceSectionDisplayName: Type.Optional(text),
  }),
})

/** Usage is charged to this profile; every other account has no subscriptions. */
export function billingSubscriptions(profile: ResourceId): ResourceType {
  const account = parentOf(profile)
  return defineComputed({
    type,
    description: 'The subscriptions that an account is charged for.',
    scope: 'tenant',
    apiVersions: [billingVersion],
    answer,
    source: {
      async get(context) {
        const { id, reader } = context
        if (parentOf(id).key !== account.key) return undefined
        const found = await reader.get(childOf(rootId, 'subscriptions', nameOf(id)))
        if (found === undefined || !(await isReadable(context, found))) return undefined
        return show(context, found, profile, await sectionsOf(reader, profile))
      },
      async list(context) {
        const { parent, reader, cursor, limit } = context
        if (parent.key !== account.key) return { items: [] }
        const sections = await sectionsOf(reader, profile)
        const { items: rows, next } = await reader.page({
          type: 'Resources/subscriptions',
          under: rootId,
          after: cursor,
          limit: Math.min(limit, scannedMax),
        })
        const readable = await Promise.all(rows.map((row) => isReadable(context, row)))
        return {
          items: rows
            .filter((_row, at) => readable[at])
            .map((row) => show(context, row, profile, sections)),
          ...(next === undefined ? {} : { next }),
        }
      },
    },
  })
}

/** What pays for a subscription. */
export function billingProperty(profile: ResourceId): ResourceType {
  const property = 'Billing/billingProperty'
  return defineComputed({
    type: property,
    description: 'What pays for a subscription: an account, a profile, a section.',
    scope: 'subscription',
    apiVersions: [billingVersion],
    answer: Type.Object({
      properties: Type.Object({
        billingAccountId: text,
        billingProfileId: text,
        billingProfileDisplayName: Type.Optional(text),
        invoiceSectionId: Type.Optional(text),
        invoiceSectionDisplayName: Type.Optional(text),
        subscriptionBillingStatus: Type.Enum(['Active', 'Disabled']),
      }),
    }),
    source: {
      async get(context) {
        const { id, reader, words } = context
        const [found, paying] = await Promise.all([reader.get(scopeOf(id)), reader.get(profile)])
        if (nameOf(id).toLowerCase() !== 'default' || found === undefined) return undefined
        const section = sectionFor(await sectionsOf(reader, profile), nameOf(found.id))
        const full = qualify(words, property)
        // Rows of these types have these members.
        const { displayName } = (paying?.model ?? {}) as { readonly displayName?: string }
        return {
          id: `${found.id.text}/providers/${full}/default`,
          name: 'default',
          type: full,
          properties: {
            billingAccountId: parentOf(profile).text,
            billingProfileId: profile.text,
            ...(displayName === undefined ? {} : { billingProfileDisplayName: displayName }),
            ...(section === undefined
              ? {}
              : {
                  invoiceSectionId: section.id,
                  invoiceSectionDisplayName: section.model.displayName ?? 'default',
                }),
            subscriptionBillingStatus: statusOf(found),
          },
        }
      },
    },
  })
}

function statusOf({ model }: Resource): 'Active' | 'Disabled' {
  // Rows of subscriptions have this member.
  const { state } = model as { readonly state: string }
  return state === 'Disabled' ? 'Disabled' : 'Active'
}

async function isReadable({ may }: Pick<Context, 'may'>, { id }: Resource): Promise<boolean> {
  return may('Resources/subscriptions/read', id)
}

function show(
  { words }: Pick<Context, 'words'>,
  subscription: Resource,
  profile: ResourceId,
  sections: readonly Section[],
): object {
  const { id, model } = subscription
  // Rows of that type have these members.
  const { displayName } = model as { readonly displayName: string }
  const subscriptionId = nameOf(id)
  const section = sectionFor(sections, subscriptionId)
  return {
    id: childOf(parentOf(profile), 'billingSubscriptions', subscriptionId).text,
    name: subscriptionId,
    type: qualify(words, type),
    properties: {
      subscriptionId,
      displayName,
      status: statusOf(subscription),
      billingProfileId: profile.text,
      billingProfileName: nameOf(profile),
      ...(section === undefined
        ? {}
        : {
            invoiceSectionId: section.id,
            invoiceSectionName: section.id.slice(section.id.lastIndexOf('/') + 1),
            invoiceSectionDisplayName: section.model.displayName ?? 'default',
          }),
    },
  }
}
