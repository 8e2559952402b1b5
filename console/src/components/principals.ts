/** Names of users, groups and applications by their ids, fetched for many at once. */

import { useQuery } from '@tanstack/react-query'
import { send } from '../api/client.ts'
import { useRights } from '../app/rights.ts'

export interface Principal {
  readonly id: string
  readonly name: string
  readonly kind: string
}

/** Principals that cannot be read are left out. */
export async function principalNames(
  ids: readonly string[],
): Promise<ReadonlyMap<string, Principal>> {
  if (ids.length === 0) return new Map()
  const found = await send<{
    readonly value: readonly {
      readonly id: string
      readonly displayName?: string
      readonly '@odata.type'?: string
    }[]
  }>('POST', '/v1.0/directoryObjects/getByIds', { body: { ids: ids.slice(0, 1000) } }).catch(
    () => undefined,
  )
  return new Map(
    (found?.body.value ?? []).map((one) => [
      one.id,
      {
        id: one.id,
        name: one.displayName ?? one.id,
        kind: (one['@odata.type'] ?? '').split('.').at(-1) ?? '',
      },
    ]),
  )
}

export function usePrincipalNames(ids: readonly string[]): ReadonlyMap<string, Principal> {
  const rights = useRights()
  const wanted = [...new Set(ids)].sort()
  const found = useQuery({
    queryKey: ['principals', wanted],
    queryFn: () => principalNames(wanted),
    enabled: wanted.length > 0 && rights.mayEverywhere('people'),
    staleTime: 60_000,
  })
  return found.data ?? new Map()
}
