/** The answer of `environment()`: the places of one installation, all of them below its own address. */
import { objectOf } from './fields.ts'
import type { JsonObject } from './plan.ts'

interface Installation {
  readonly name: string
  /** Without a slash at its end. */
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

/** Templates put names of accounts and vaults before them; those with a dot at the beginning bring it along. */
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
