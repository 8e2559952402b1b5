/** The types that only hold what they are given: accounts, shares, synchronization settings. */

import Type from 'typebox'
import { defineResource, type ResourceType } from '#plane/define.ts'
import { holderReconciler } from './mirror.ts'
import { momentProblems, type Setting, schedule, showSetting } from './schedules.ts'
import { isoTime, proxyName, type ShareParts, types, version } from './share-parts.ts'
import { shareActions } from './synchronizations/actions.ts'

export interface Account {
  readonly createdAt: string
  readonly userName: string
  readonly identityId: string | null
}

export interface Share extends Omit<Account, 'identityId'> {
  readonly description?: string
  readonly terms?: string
  readonly shareKind: string
}

const shownAccount = Type.Object({
  createdAt: Type.String({ format: 'date-time' }),
  provisioningState: Type.String(),
  userName: Type.String(),
})

export function accounts(_parts: Pick<ShareParts, 'tenantId'>): ResourceType {
  return defineResource<Account>({
    type: types.accounts,
    description: 'An account that shares, or is shared with.',
    scope: 'resource-group',
    tracked: true,
    name: {
      pattern: /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,88}[A-Za-z0-9_])?$/,
      rule: '1 to 90 letters, digits, periods, hyphens and underscores, a letter or digit first',
    },
    versions: [
      {
        date: version,
        body: Type.Object({
          identity: Type.Optional(
            Type.Object({ type: Type.Optional(Type.Literal('SystemAssigned')) }),
          ),
          properties: Type.Optional(Type.Object({})),
        }),
        answer: Type.Object({
          identity: Type.Object({ type: Type.String() }),
          properties: shownAccount,
        }),
        unknownProperties: 'ignore',
        patch: 'tags',
        toModel: (_body: object, previous, { now, principal }) =>
          previous ?? {
            createdAt: isoTime(now),
            userName: principal.displayName,
            identityId: null,
          },
        fromModel: ({ createdAt, userName }, { state }) => ({
          identity: { type: 'SystemAssigned' },
          properties: { createdAt, provisioningState: state, userName },
        }),
      },
    ],
    reconcile: holderReconciler<Account>(),
    sample: {
      name: (seed) => `account-${seed}`,
      body: () => ({ location: 'here', identity: { type: 'SystemAssigned' } }),
      changed: () => ({ location: 'here', tags: { changed: 'yes' } }),
    },
  })
}

const shareProperties = Type.Object({
  description: Type.Optional(Type.String({ maxLength: 4000 })),
  terms: Type.Optional(Type.String({ maxLength: 4000 })),
  shareKind: Type.Optional(Type.Union([Type.Literal('CopyBased'), Type.Literal('InPlace')])),
})

export function shares(parts: ShareParts): ResourceType {
  return defineResource<Share>({
    type: types.shares,
    description: 'What a provider shares together.',
    scope: 'resource-group',
    tracked: false,
    name: proxyName,
    versions: [
      {
        date: version,
        body: Type.Object({ properties: Type.Optional(shareProperties) }),
        answer: Type.Object({ properties: Type.Interface([shareProperties, shownAccount], {}) }),
        unknownProperties: 'ignore',
        patch: 'none',
        toModel(body: { readonly properties?: Partial<Share> }, previous, { now, principal }) {
          const { description, terms, shareKind } = body.properties ?? {}
          return {
            createdAt: previous?.createdAt ?? isoTime(now),
            userName: previous?.userName ?? principal.displayName,
            shareKind: shareKind ?? 'CopyBased',
            ...(description === undefined ? {} : { description }),
            ...(terms === undefined ? {} : { terms }),
          }
        },
        fromModel: (model, { state }) => ({
          properties: { ...model, provisioningState: state },
        }),
      },
    ],
    actions: shareActions(parts),
    deleteRules({ id }) {
      // A hint, after the delete will have been noted: consumers are told that the source is gone.
      parts.timers.after(wakeMilliseconds, () => void wakeConsumers(parts, id.key))
    },
    reconcile: holderReconciler<Share>(),
    sample: {
      name: (seed) => `share-${seed}`,
      body: () => ({ properties: { description: 'first', shareKind: 'CopyBased' } }),
      changed: () => ({ properties: { description: 'second', terms: 'none' } }),
    },
  })
}

const wakeMilliseconds = 500
const consumersMax = 500

/** Losing it costs delay only: consumers look again by themselves. */
async function wakeConsumers({ grants, wakes, log }: ShareParts, shareKey: string): Promise<void> {
  try {
    for (const { subscriptionKey } of await grants.grantsOf(shareKey, '', consumersMax)) {
      wakes.wake(subscriptionKey)
    }
  } catch (error) {
    // The store is away; nobody waits for this.
    log.debug({ share: shareKey, error: String(error) }, 'a hint was lost')
  }
}

export function synchronizationSettings(): ResourceType {
  return defineResource<Setting>({
    type: types.settings,
    description: 'How often consumers of a share may synchronize on a schedule.',
    scope: 'resource-group',
    tracked: false,
    name: proxyName,
    versions: [
      {
        date: version,
        body: Type.Object({ kind: Type.Literal('ScheduleBased'), properties: schedule }),
        problems: momentProblems,
        answer: Type.Object({ kind: Type.String(), properties: schedule }),
        unknownProperties: 'ignore',
        patch: 'none',
        toModel(body: { readonly properties: Setting }, previous, { now, principal }) {
          const { recurrenceInterval, synchronizationTime } = body.properties
          return {
            recurrenceInterval,
            synchronizationTime,
            createdAt: previous?.createdAt ?? isoTime(now),
            userName: previous?.userName ?? principal.displayName,
          }
        },
        fromModel: showSetting,
      },
    ],
    sample: {
      name: (seed) => `setting-${seed}`,
      body: () => ({
        kind: 'ScheduleBased',
        properties: { recurrenceInterval: 'Day', synchronizationTime: '2026-01-01T00:00:00Z' },
      }),
      changed: () => ({
        kind: 'ScheduleBased',
        properties: { recurrenceInterval: 'Hour', synchronizationTime: '2026-01-01T00:00:00Z' },
      }),
    },
  })
}
