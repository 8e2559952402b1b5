/** Opens identity over the installation's store, keys and address, and records sign-ins. */

import { type ActivityQueue, openActivityQueue } from '#activity/queue.ts'
import { addressGroupOf, originOf } from '#http/client-address.ts'
import { type Identity, type IdentityOptions, openIdentity } from '#identity/identity.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Foundation } from './foundation.ts'
import { openSignInActivity } from './sign-in-activity.ts'

export interface Accounts {
  readonly identity: Identity
  readonly activity: ActivityQueue
}

export function openAccounts(
  base: Foundation,
  opened: AsyncDisposableStack,
  federatedOf: IdentityOptions['federatedOf'],
): Accounts {
  const { config, store, clock, ids, log, addressOf } = base
  const activity = opened.use(
    openActivityQueue({
      sql: store.sql,
      clock,
      log,
      omittedAction: qualify(config.words, 'Insights/eventtypes/omitted'),
    }),
  )
  const signIns = opened.use(
    openSignInActivity({
      activity,
      directory: () => identity.directory,
      words: config.words,
      ids,
      log,
    }),
  )
  const identity = openIdentity({
    sql: store.sql,
    namespace: config.words.namespace,
    onSignIn: signIns.onSignIn,
    feed: store.feed('directory'),
    clock,
    libraryClock: base.machineClock,
    ids: base.directoryIds,
    ownerIds: base.recordIds,
    firstPair: base.firstPair,
    log,
    seal: base.keyring.identitySeal(base.indexKey),
    tenantId: base.record.tenantId,
    publicUrl: base.publicUrl,
    ...(config.publicUrl === undefined ? { publicUrlOf: base.publicUrlOf } : {}),
    issuers: config.issuers,
    limits: {
      sessionSeconds: config.sessionIdleHours * 3600,
      sessionSecondsMax: config.sessionHours * 3600,
      passwordLengthMin: config.passwordLength,
    },
    outbound: base.outbound,
    ...(federatedOf === undefined ? {} : { federatedOf }),
    localTokenSecret: base.home.localTokenSecret(),
    originOf: (request) => originOf(request, addressOf),
    addressGroupOf,
  })
  return { identity, activity }
}
