/** The API versions of a resource's type: from its provider, or from the documents that anybody may read. */

import { useQuery } from '@tanstack/react-query'
import { ApiFailure, call, send } from './client.ts'
import { readId } from './ids.ts'

export interface Provider {
  readonly namespace: string
  readonly resourceTypes: readonly {
    readonly resourceType: string
    readonly apiVersions: readonly string[]
  }[]
}

const groupVersions = ['2021-04-01']
const subscriptionVersions = ['2022-12-01']

/** The newest first; empty until they are loaded. */
export function useVersions(id: string): readonly string[] {
  const { type, subscriptionId } = readId(id)
  const found = useQuery<readonly string[], ApiFailure>({
    queryKey: ['versions', subscriptionId, type],
    queryFn: () => versionsOf(id),
    staleTime: 300_000,
  })
  return found.data ?? []
}

export async function versionsOf(id: string): Promise<readonly string[]> {
  const { subscriptionId = '', type, group } = readId(id)
  if (type === undefined) return group === undefined ? subscriptionVersions : groupVersions
  const versions = await call('listProviders', { path: { subscriptionId } }).then(
    ({ body }) => providerVersions(body, type),
    (error: unknown) => {
      if (error instanceof ApiFailure && error.status >= 400) return documentVersions(type)
      throw error
    },
  )
  // What is served in no version is asked for all the same: the refusal says why.
  return versions.length === 0 ? groupVersions : plainFirst(versions)
}

/** A preview version is not shown first. */
export function plainFirst(versions: readonly string[]): readonly string[] {
  return [
    ...versions.filter((one) => !one.includes('preview')),
    ...versions.filter((one) => one.includes('preview')),
  ]
}

function providerVersions(providers: unknown, type: string): readonly string[] {
  const all = (providers as { readonly value: readonly Provider[] }).value
  const [namespace = '', ...rest] = type.toLowerCase().split('/')
  const provider = all.find((one) => one.namespace.toLowerCase() === namespace)
  const found = provider?.resourceTypes.find(
    ({ resourceType }) => resourceType.toLowerCase() === rest.join('/'),
  )
  return found?.apiVersions ?? []
}

/** Whoever may read only one resource may not read its provider, and a subscription may not be there. */
async function documentVersions(type: string): Promise<readonly string[]> {
  const [namespace = ''] = type.toLowerCase().split('/')
  const { body } = await send<{ readonly value: readonly string[] }>('GET', '/openapi')
  const start = `/openapi/${namespace}/`
  return body.value
    .filter((path) => path.toLowerCase().startsWith(start))
    .map((path) => path.slice(start.length, -'.json'.length))
    .toSorted()
    .reverse()
}
