/** No identity provider is reached: for tests whose writes ask none. */

import type { ConsentDependencies } from '../dependencies.ts'

export const unasked: Pick<ConsentDependencies, 'tokens' | 'redirects'> = {
  tokens: {
    ask: async () => ({ ok: false, error: 'none', message: 'nobody is asked', transient: true }),
  },
  redirects: [],
}
