/** No identity provider is reached: for tests whose writes ask none. */

import type { ConsentParts } from '../authorizations/parts.ts'

export const unasked: Pick<ConsentParts, 'tokens' | 'redirects'> = {
  tokens: {
    ask: async () => ({ ok: false, error: 'none', message: 'nobody is asked', transient: true }),
  },
  redirects: [],
}
