/** The answer of `environment()`: the endpoints of one installation, all below its own address. */
import { objectOf } from './fields.ts'
import type { JsonObject } from './plan.ts'

interface Installation {
  readonly name: string
  /** Without a trailing slash. */
  readonly url: string
  readonly tenantId: string
}

const endpoints = [
  'activeDirectoryDataLake',
  'batch',
  'gallery',
  'graph',
  'graphAudience',
  'media',
  'portal',
  'resourceManager',
  'sqlManagement',
  'vmImageAliasDoc',
] as const

/**
 * Templates prefix these with names of accounts and vaults. Where a suffix begins with a dot, the template adds
 * none.
 */
const suffixes: Readonly<Record<string, string>> = {
  acrLoginServer: '.registry.',
  azureDatalakeAnalyticsCatalogAndJob: 'analytics.',
  azureDatalakeStoreFileSystem: 'datalake.',
  azureFrontDoorEndpointSuffix: 'frontdoor.',
  keyvaultDns: '.vault.',
  sqlServerHostname: '.database.',
  storage: 'core.',
}

export function environmentOf({ name, url, tenantId }: Installation): JsonObject {
  const host = hostOf(url)
  return objectOf([
    ['name', name],
    ...endpoints.map((one) => [one, `${url}/`] as const),
    [
      'authentication',
      objectOf([
        ['loginEndpoint', `${url}/`],
        ['audiences', [url]],
        ['identityProvider', 'AAD'],
        ['tenant', tenantId],
      ]),
    ],
    ['suffixes', objectOf(Object.entries(suffixes).map(([key, one]) => [key, `${one}${host}`]))],
  ])
}

/** Without the scheme and the port. */
function hostOf(url: string): string {
  return /^[a-z]+:\/\/(\[[^\]]*\]|[^/:]*)/i.exec(url)?.[1] ?? url
}
