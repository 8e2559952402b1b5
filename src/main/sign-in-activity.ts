/**
 * Writes sign-ins as records of the audit trail. The name in a failed sign-in is recorded only when an account has
 * it: people also type their passwords into that field.
 */

import type { ActivityQueue } from '#activity/queue.ts'
import { targetOf } from '#activity/record.ts'
import { addressGroupOf } from '#http/client-address.ts'
import type { IdentityDirectory } from '#identity/directory.ts'
import type { OnSignIn, SignInEvent } from '#identity/sign-in-events.ts'
import { networkOf } from '#kernel/network.ts'
import type { Ids, Log } from '#kernel/ports.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'

interface SignInActivity extends AsyncDisposable {
  readonly onSignIn: OnSignIn
}

interface SignInActivityOptions {
  readonly activity: Pick<ActivityQueue, 'note'>
  readonly directory: () => Pick<IdentityDirectory, 'bySignInName' | 'record'>
  readonly words: VendorWords
  readonly ids: Ids
  readonly log: Log
}

const target = targetOf('/directory/signIns')
/** As many as an application with a thousand processes needs. It may ask from any number of addresses. */
const signInsPerMinuteMax = 600
const uuid = /^[0-9a-f-]{36}$/i

export function openSignInActivity(options: SignInActivityOptions): SignInActivity {
  const { activity, directory, words, ids, log } = options
  const action = qualify(words, 'Directory/signIns/action')
  const underway = new Set<Promise<void>>()

  async function callerOf(event: SignInEvent): Promise<{ id: string; displayName: string }> {
    if (event.principalId !== undefined) {
      const found = await directory().record(event.principalId)
      const name = found?.signInName ?? found?.clientId ?? event.name
      return { id: event.principalId, displayName: name }
    }
    if (event.grant === 'password') {
      const found = await directory().bySignInName(event.name)
      return found === undefined
        ? { id: '', displayName: '' }
        : { id: found.id, displayName: found.signInName ?? '' }
    }
    return { id: '', displayName: uuid.test(event.name) ? event.name : '' }
  }

  async function note(event: SignInEvent): Promise<void> {
    const { outcome, origin, clientId, error, grant } = event
    const isGood = outcome === 'succeeded'
    const caller = await callerOf(event)
    activity.note(
      {
        initiator: {
          principal: { ...caller, ...(uuid.test(clientId) ? { clientId } : {}) },
          correlationId: ids.uuid(),
          from: { ...origin, method: 'POST' },
        },
        action,
        target,
        status: isGood ? 'Succeeded' : 'Failed',
        ...(error === undefined ? {} : { code: error }),
        facts: { grant, outcome },
      },
      isGood
        ? { principal: `sign-ins of ${caller.id}`, perMinuteMax: signInsPerMinuteMax }
        : { stranger: networkOf(addressGroupOf(origin.address)) },
    )
  }

  return {
    onSignIn(event) {
      const work = note(event)
        .catch((reason: unknown) =>
          log.warn({ reason: String(reason) }, 'a sign-in was not recorded'),
        )
        .finally(() => underway.delete(work))
      underway.add(work)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(underway)
    },
  }
}
