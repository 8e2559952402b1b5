/** The namespace `Features`: what clients ask before they use something that is in preview elsewhere. */

import { defineProvider, type Provider } from '#plane/declare/provider.ts'
import { features } from './resources/features/resource.ts'

export function featuresProvider(): Provider {
  return defineProvider({
    namespace: 'Features',
    description: 'Features in preview, of which there are none.',
    compatibleVersions: ['2015-12-01'],
    types: [...features()],
  })
}
