/** Settings of which types and api-versions are accepted. */

import { resolve } from 'node:path'
import { choice, text } from './setting.ts'

export interface TypesConfig {
  /** Whether an unlisted version is refused or served in the nearest shape. */
  readonly apiVersions: 'known' | 'nearest'
  /** Undefined: resources of unknown types are refused. `schemas` is an absolute path. */
  readonly generic: { readonly schemas: string | undefined } | undefined
}

export const typesSettings = {
  apiVersions: choice(['auto', 'known', 'nearest'], {
    default: 'auto',
    description:
      'Which api-versions are taken: the listed ones alone (`known`), or any date, served in the nearest shape (`nearest`; the header `x-armature-api-version` says which). `auto` is `nearest` where the vendor words are set, else `known`.',
  }),
  genericResources: choice(['off', 'on'], {
    default: 'off',
    description:
      'Whether resources of types that nobody serves are refused, or stored as documents behind which nothing stands; the header `x-armature-generic-resource` of their answers says so.',
  }),
  genericSchemas: text('empty, or a folder', (v) => !v.includes('\0'), {
    default: '',
    description:
      'With generic resources: a folder of OpenAPI or JSON Schema files by which their bodies are checked. Empty is none: every body is taken.',
  }),
} as const

interface Named {
  readonly apiVersions: 'auto' | 'known' | 'nearest'
  readonly vendorNamespace: string
  readonly genericResources: 'off' | 'on'
  readonly genericSchemas: string
}

export function arrangeTypes(named: Named, directory: string): TypesConfig {
  const { apiVersions, vendorNamespace, genericResources, genericSchemas } = named
  const schemas = genericSchemas === '' ? undefined : resolve(directory, genericSchemas)
  return {
    apiVersions: versionRuleOf(apiVersions, vendorNamespace),
    generic: genericResources === 'off' ? undefined : { schemas },
  }
}

/** An installation with vendor words serves published clients, which send versions of their own. */
function versionRuleOf(
  given: 'auto' | 'known' | 'nearest',
  vendorNamespace: string,
): 'known' | 'nearest' {
  if (given !== 'auto') return given
  return vendorNamespace === 'Vendor' ? 'known' : 'nearest'
}
