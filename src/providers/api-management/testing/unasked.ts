/** Reaches no identity provider and knows no identity, for tests whose writes need none. */

import type { ConsentDependencies, ServiceDependencies } from '../dependencies.ts'

export const unasked: Pick<ConsentDependencies, 'tokens' | 'redirects'> &
  Pick<ServiceDependencies, 'identities'> = {
  identities: {
    useAction: 'ManagedIdentity/userAssignedIdentities/assign/action',
    find: async () => undefined,
  },
  tokens: {
    ask: async () => ({ ok: false, error: 'none', message: 'nobody is asked', transient: true }),
  },
  redirects: [],
}
