/** Which API versions a resource's type has, as its provider tells. */

import { readId } from './ids.ts'
import { useCall } from './queries.ts'

interface Provider {
  readonly namespace: string
  readonly resourceTypes: readonly {
    readonly resourceType: string
    readonly apiVersions: readonly string[]
  }[]
}

const groupVersions = ['2021-04-01']
const subscriptionVersions = ['2022-12-01']

/** The newest first; empty until they are known. */
export function useVersions(id: string): readonly string[] {
  const { subscriptionId, type, group } = readId(id)
  const needed = type !== undefined && subscriptionId !== undefined
  const found = useCall(
    'listProviders',
    { path: { subscriptionId: subscriptionId ?? '' } },
    { enabled: needed },
  )
  if (type === undefined) return group === undefined ? subscriptionVersions : groupVersions
  return versionsOf(found.data, type)
}

export function versionsOf(providers: unknown, type: string): readonly string[] {
  const all = (providers as { readonly value: readonly Provider[] } | undefined)?.value ?? []
  const [namespace = '', ...rest] = type.toLowerCase().split('/')
  const provider = all.find((one) => one.namespace.toLowerCase() === namespace)
  const found = provider?.resourceTypes.find(
    ({ resourceType }) => resourceType.toLowerCase() === rest.join('/'),
  )
  // A preview is not what one is shown first.
  const versions = found?.apiVersions ?? []
  return [
    ...versions.filter((one) => !one.includes('preview')),
    ...versions.filter((one) => one.includes('preview')),
  ]
}
