/** The subscriptions that an account is charged for, each with the section that shows its usage. Computed. */

import Type from 'typebox'
import { childOf, nameOf, parentOf, type ResourceId, rootId } from '#kernel/resource-id.ts'
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

async function isReadable({ may }: Pick<Context, 'may'>, { id }: Resource): Promise<boolean> {
  return may('Resources/subscriptions/read', id)
}

function show(
  { words }: Pick<Context, 'words'>,
  { id, model }: Resource,
  profile: ResourceId,
  sections: readonly Section[],
): object {
  // Rows of that type have these members.
  const { displayName, state } = model as { readonly displayName: string; readonly state: string }
  const subscriptionId = nameOf(id)
  const section = sectionFor(sections, subscriptionId)
  return {
    id: childOf(parentOf(profile), 'billingSubscriptions', subscriptionId).text,
    name: subscriptionId,
    type: qualify(words, type),
    properties: {
      subscriptionId,
      displayName,
      status: state === 'Disabled' ? 'Disabled' : 'Active',
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
