/** Which api-versions are taken. */

import { choice } from './setting.ts'

export const apiVersionsSettings = {
  apiVersions: choice(['auto', 'known', 'nearest'], {
    default: 'auto',
    description:
      'Which api-versions are taken: the listed ones alone (`known`), or any date, served in the nearest shape (`nearest`; the header `x-armature-api-version` says which). `auto` is `nearest` where the vendor words are set, else `known`.',
  }),
} as const

/** Whoever sets the vendor words runs published clients, and those send versions of their own. */
export function versionRuleOf(
  given: 'auto' | 'known' | 'nearest',
  vendorNamespace: string,
): 'known' | 'nearest' {
  if (given !== 'auto') return given
  return vendorNamespace === 'Vendor' ? 'known' : 'nearest'
}
