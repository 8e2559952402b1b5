/**
 * Registration of addresses that invitations go to (facts 6.1). The directory vouches for the names its users sign in
 * with, so theirs are active at once; nobody else's can be, since no mail leaves the installation.
 */

import Type from 'typebox'
import type { Principal } from '#kernel/principal.ts'
import type { Action } from '#plane/declare/action.ts'
import type { ShareDependencies } from '../dependencies.ts'
import { refuseShare } from '../errors.ts'
import { vouchedName } from './invitee.ts'

const answer = Type.Object({
  email: Type.String(),
  registrationStatus: Type.Unsafe<string>({
    type: 'string',
    enum: ['ActivationPending', 'Activated', 'ActivationAttemptsExhausted'],
  }),
  tenantId: Type.String(),
})

export function emailActions(
  deps: Pick<ShareDependencies, 'directory' | 'tenantId'>,
): Readonly<Record<'registerEmail' | 'activateEmail', Action<unknown>>> {
  const registered = async (principal: Principal): Promise<object> => {
    const email = await vouchedName(principal, deps)
    if (email === undefined) throw refuseShare.EmailNotVerifiable({ name: principal.displayName })
    return { email, registrationStatus: 'Activated', tenantId: principal.tenantId }
  }
  return {
    registerEmail: {
      method: 'POST',
      description: 'Register the address the caller signs in with, for invitations that go to it',
      open: true,
      answer,
      run: async ({ principal }) => ({ status: 200, body: await registered(principal) }),
    },
    activateEmail: {
      method: 'POST',
      description: 'Activate a registered address by the code that was sent to it',
      open: true,
      body: Type.Object({ activationCode: Type.String({ minLength: 1, maxLength: 100 }) }),
      answer,
      // Whatever the code: an address that could be registered is active already.
      run: async ({ principal }) => ({ status: 200, body: await registered(principal) }),
    },
  }
}
