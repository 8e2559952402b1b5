/**
 * The levels of the tree that are open: each asks for what it holds, page by page, and reports it. They draw nothing;
 * the tree draws what is in sight of all of them. The types of a provider say what can be nested in a resource.
 */

import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo } from 'react'
import { ApiFailure, send, sendNext } from '../../api/client.ts'
import { readId } from '../../api/ids.ts'
import { type Envelope, type ItemOf, type Rows, useCall, useList } from '../../api/queries.ts'
import { type Provider, plainFirst } from '../../api/versions.ts'
import type { ListedResource } from './listed-resource.ts'
import type { Level, TreeNode } from './tree-rows.ts'

/** Rows of one page of a group, and at most read of each nested type. */
const pageSize = '500'
export const nestedMax = 500
/** A type that has no list, or none here. */
const noList = [400, 404, 405]

interface LevelProps {
  readonly id: string
  /** The end of what was read is nearly in sight. */
  readonly wantsMore: boolean
  readonly onLevel: (id: string, level: Level | undefined) => void
}

export function LevelOf(props: LevelProps) {
  const { group, type } = readId(props.id)
  if (type !== undefined) return <NestedLevel {...props} />
  if (group !== undefined) return <GroupLevel {...props} />
  return <SubscriptionLevel {...props} />
}

type Found = Pick<Rows<unknown>, 'loading' | 'error' | 'more' | 'loadMore'>

function useLevel(
  { id, wantsMore, onLevel }: LevelProps,
  pages: Level['pages'],
  { loading, error, more, loadMore }: Found,
  isCut = false,
): null {
  useEffect(
    () => onLevel(id, { pages, loading, error, more, isCut }),
    [id, onLevel, pages, loading, error, more, isCut],
  )
  useEffect(() => () => onLevel(id, undefined), [id, onLevel])
  useEffect(() => {
    if (wantsMore) loadMore()
  })
  return null
}

/** The nodes of each page, made once for each: a page that arrives leaves the others as they are. */
function useNodes<T>(
  pages: readonly (readonly T[])[],
  nodesOf: (page: readonly T[]) => readonly TreeNode[],
): Level['pages'] {
  // biome-ignore lint/correctness/useExhaustiveDependencies: other nodes are made of the same page
  const made = useMemo(() => new WeakMap<readonly T[], readonly TreeNode[]>(), [nodesOf])
  return useMemo(
    () =>
      pages.map((page) => {
        const nodes = made.get(page) ?? nodesOf(page)
        made.set(page, nodes)
        return nodes
      }),
    [pages, nodesOf, made],
  )
}

function groupNodes(groups: readonly ItemOf<'listGroups'>[]): readonly TreeNode[] {
  return groups.map(({ id, name, properties }) => ({
    id,
    title: name,
    state: properties.provisioningState,
    mayHold: true,
  }))
}

function SubscriptionLevel(props: LevelProps) {
  const { subscriptionId = '' } = readId(props.id)
  const found = useList('listGroups', { path: { subscriptionId } })
  return useLevel(props, useNodes(found.pages, groupNodes), found)
}

function GroupLevel(props: LevelProps) {
  const { subscriptionId = '', group = '' } = readId(props.id)
  const found = useList<'listGroupResources', ListedResource>('listGroupResources', {
    path: { subscriptionId, resourceGroupName: group },
    query: { $expand: 'createdTime,provisioningState', $top: pageSize },
  })
  const typesIn = useNestedTypes(subscriptionId)
  const nodesOf = useCallback(
    (page: readonly ListedResource[]) =>
      page
        // Nested ones are below their parents.
        .filter(({ type }) => type.split('/').length === 2)
        .map((row) => resourceNode(row, typesIn)),
    [typesIn],
  )
  return useLevel(props, useNodes(found.pages, nodesOf), found)
}

/** What is nested in a resource. */
export function useNested(id: string) {
  const { subscriptionId = '', type = '' } = readId(id)
  const typesIn = useNestedTypes(subscriptionId)
  const types = typesIn(type)
  const found = useQuery<readonly Nested[], ApiFailure>({
    queryKey: ['nested', id, types],
    queryFn: async ({ signal }) =>
      (await Promise.all(types.map((one) => listNested(id, one, signal)))).flat(),
  })
  return { ...found, typesIn }
}

function NestedLevel(props: LevelProps) {
  const { data, isLoading, error, typesIn } = useNested(props.id)
  const pages = useMemo(
    () => [(data ?? []).map((row) => resourceNode(row, typesIn))],
    [data, typesIn],
  )
  const found = { loading: isLoading, error, more: false, loadMore: () => undefined }
  return useLevel(props, pages, found, (data ?? []).length >= nestedMax)
}

interface Nested extends Envelope {
  readonly provisioningState?: string
  readonly properties?: { readonly provisioningState?: string }
}

function resourceNode(row: Nested, typesIn: (type: string) => readonly NestedType[]): TreeNode {
  const { id, name, type } = row
  return {
    id,
    title: name.slice(name.lastIndexOf('/') + 1),
    type,
    state: row.provisioningState ?? row.properties?.provisioningState,
    mayHold: typesIn(type).length > 0,
  }
}

interface NestedType {
  readonly segment: string
  readonly version: string
}

/** The types that are nested in a type. */
function useNestedTypes(subscriptionId: string): (type: string) => readonly NestedType[] {
  const { data } = useCall('listProviders', { path: { subscriptionId } })
  return useMemo(() => {
    const providers = (data as { readonly value: readonly Provider[] } | undefined)?.value ?? []
    const known = new Map<string, readonly NestedType[]>()
    return (type) => {
      const types = known.get(type) ?? nestedTypes(providers, type)
      known.set(type, types)
      return types
    }
  }, [data])
}

function nestedTypes(providers: readonly Provider[], type: string): readonly NestedType[] {
  const [namespace = '', ...above] = type.toLowerCase().split('/')
  const start = `${above.join('/')}/`
  const provider = providers.find((one) => one.namespace.toLowerCase() === namespace)
  return (provider?.resourceTypes ?? []).flatMap(({ resourceType, apiVersions }) => {
    const segment = resourceType.slice(start.length)
    const [version] = plainFirst(apiVersions)
    const isBelow = resourceType.toLowerCase().startsWith(start) && !segment.includes('/')
    return isBelow && version !== undefined ? [{ segment, version }] : []
  })
}

async function listNested(
  id: string,
  { segment, version }: NestedType,
  signal: AbortSignal,
): Promise<readonly Nested[]> {
  interface Page {
    readonly value?: readonly Nested[]
    readonly nextLink?: string
  }
  const rows: Nested[] = []
  try {
    const query = { 'api-version': version }
    let { body } = await send<Page>('GET', `${id}/${segment}`, { query, signal })
    for (;;) {
      rows.push(...(body.value ?? []).filter((one) => typeof one.id === 'string'))
      if (body.nextLink === undefined || rows.length >= nestedMax) return rows
      body = (await sendNext<Page>(body.nextLink, signal)).body
    }
  } catch (error) {
    if (error instanceof ApiFailure && noList.includes(error.status)) return rows
    throw error
  }
}
