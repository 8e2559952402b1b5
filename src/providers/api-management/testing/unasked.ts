/** Reaches no identity provider, for tests whose writes need none. */

import type { ConsentDependencies } from '../dependencies.ts'

export const unasked: Pick<ConsentDependencies, 'tokens' | 'redirects'> = {
  tokens: {
    ask: async () => ({ ok: false, error: 'none', message: 'nobody is asked', transient: true }),
  },
  redirects: [],
}
