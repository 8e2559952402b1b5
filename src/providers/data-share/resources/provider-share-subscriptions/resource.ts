/** The provider's view of who took a share, and the right to stop them. */

import Type from 'typebox'
import { refuse } from '#kernel/error.ts'
import { nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Action } from '#plane/declare/action.ts'
import { added } from '#plane/declare/added.ts'
import { asResource } from '#plane/declare/answers.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { isoTime, type ShareDependencies, types, version } from '../../dependencies.ts'
import { moment } from '../../domain/schedules.ts'
import { shareOf } from '../../domain/share-of.ts'
import type { GrantRow, GrantStatus } from '../../domain/store/tables.ts'

const text = Type.String()
const answer = Type.Object({
  properties: Type.Object({
    consumerEmail: text,
    consumerName: text,
    consumerTenantName: text,
    createdAt: text,
    providerEmail: text,
    providerName: text,
    sharedAt: text,
    shareSubscriptionObjectId: text,
    shareSubscriptionStatus: Type.Enum(['Active', 'Revoked', 'Revoking', 'SourceDeleted']),
    expirationDate: Type.Optional(text),
  }),
})

export function providerShareSubscriptions(deps: ShareDependencies): ResourceType {
  const { grants, words } = deps
  const shown = async (row: GrantRow, share: string): Promise<object> => ({
    id: `${share}/providerShareSubscriptions/${row.id}`,
    name: row.id,
    type: qualify(words, types.consumers),
    properties: {
      consumerEmail: row.card.consumerEmail,
      consumerName: row.card.consumerName,
      consumerTenantName: row.card.consumerTenant,
      createdAt: isoTime(row.sharedAt),
      providerEmail: row.card.providerEmail,
      providerName: row.card.providerName,
      sharedAt: isoTime(row.sharedAt),
      shareSubscriptionObjectId: row.id,
      shareSubscriptionStatus: await shownStatus(deps, row),
      ...(row.expiresAt === null ? {} : { expirationDate: isoTime(row.expiresAt) }),
    },
  })
  const require = async (id: ResourceId): Promise<GrantRow> => {
    const row = await grants.grant(nameOf(id).toLowerCase())
    if (row === undefined || row.shareKey !== parentOf(id).key) {
      throw refuse.ResourceNotFound({ id: id.text })
    }
    return row
  }
  const change = (description: string, status: GrantStatus | undefined): Action<unknown> => ({
    method: 'POST',
    description,
    ...(status === 'Revoked' ? { endsWork: true as const } : {}),
    body: Type.Object({
      properties: Type.Optional(Type.Object({ expirationDate: Type.Optional(moment) })),
    }),
    bodyOptional: true,
    answer: added(asResource(answer)),
    async run({ id }, body: { properties?: { expirationDate?: string } } | undefined) {
      const row = await require(id)
      const given = body?.properties?.expirationDate
      await grants.change(row.id, {
        ...(status === undefined ? {} : { status }),
        ...(given === undefined ? {} : { expiresAt: Date.parse(given) }),
      })
      if (status === 'Revoked') deps.runner.wake()
      deps.wakes.wake(row.subscriptionKey)
      return { status: 200, body: await shown(await require(id), parentOf(id).text) }
    },
  })
  return defineComputed({
    type: types.consumers,
    description: 'Who took a share, as its provider sees it.',
    scope: 'resource-group',
    apiVersions: [version],
    answer: added(answer),
    source: {
      get: async ({ id }) => shown(await require(id), parentOf(id).text),
      async list({ parent, cursor, limit }) {
        const rows = await grants.grantsOf(parent.key, cursor ?? '', limit + 1)
        const items = await Promise.all(rows.slice(0, limit).map((row) => shown(row, parent.text)))
        const last = rows[limit - 1]
        return { items, ...(rows.length > limit && last !== undefined ? { next: last.id } : {}) }
      },
    },
    actions: {
      revoke: change('Stop a consumer: what runs is cancelled, nothing new starts', 'Revoked'),
      reinstate: change('Let a revoked consumer synchronize again', 'Active'),
      adjust: change('Change when the consumer’s access ends', undefined),
    },
  })
}

/** `Revoking` while what was running has not stopped yet. */
export async function shownStatus(
  { runs, reader, clock }: Pick<ShareDependencies, 'runs' | 'reader' | 'clock'>,
  row: GrantRow,
): Promise<string> {
  const share = await shareOf(reader, row)
  if (share === undefined || share.state === 'Deleting') return 'SourceDeleted'
  if (row.expiresAt !== null && row.expiresAt <= clock.now()) return 'Revoked'
  if (row.status === 'Active') return 'Active'
  return (await runs.activeOf(row.subscriptionKey)) === undefined ? 'Revoked' : 'Revoking'
}
