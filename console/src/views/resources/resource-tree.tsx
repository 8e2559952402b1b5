/**
 * Resources as a tree: subscription, group, resource, and what is nested in it. A level is read when it is opened. The
 * types of a provider say what can be nested in a resource.
 */

import {
  Button,
  makeStyles,
  Text,
  Tree,
  TreeItem,
  TreeItemLayout,
  tokens,
} from '@fluentui/react-components'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiFailure, send, sendNext } from '../../api/client.ts'
import { readId } from '../../api/ids.ts'
import { type Envelope, type Rows, useCall, useList } from '../../api/queries.ts'
import { type Provider, plainFirst } from '../../api/versions.ts'
import { useSubscriptions } from '../../app/subscription.ts'
import { AppLink, resourcePath } from '../../components/app-link.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { State } from '../../components/state.tsx'
import { appTexts, tableTexts } from '../../texts/app.ts'
import { treeTexts } from '../../texts/resources.ts'
import type { ListedResource } from '../home/home.tsx'

/** Rows of one page of a group, and at most read of each nested type. */
const pageSize = '100'
const nestedMax = 500
/** A type that has no list, or none here. */
const noList = [400, 404, 405]

const useStyles = makeStyles({
  tree: { overflow: 'auto', minHeight: '200px' },
  // A long name is cut instead of reaching over the edge.
  layout: {
    minWidth: 0,
    '& .fui-TreeItemLayout__main': {
      minWidth: 0,
      overflow: 'hidden',
      textOverflow: 'ellipsis',
      whiteSpace: 'nowrap',
    },
    // Large enough to be hit by a finger.
    '& a': { display: 'inline-block', lineHeight: tokens.lineHeightBase500, minWidth: '24px' },
  },
  type: {
    color: tokens.colorNeutralForeground2,
    paddingLeft: tokens.spacingHorizontalS,
    '@media (max-width: 700px)': { display: 'none' },
  },
})

export function ResourceTree() {
  const styles = useStyles()
  const { all, current } = useSubscriptions()
  return (
    <Tree
      className={styles.tree}
      aria-label={treeTexts.label}
      defaultOpenItems={current === undefined ? [] : [`/subscriptions/${current.subscriptionId}`]}
    >
      {all.map(({ subscriptionId, displayName, state }) => (
        <Branch
          key={subscriptionId}
          id={`/subscriptions/${subscriptionId}`}
          title={displayName}
          state={state}
        >
          <Groups subscriptionId={subscriptionId} />
        </Branch>
      ))}
    </Tree>
  )
}

interface NodeProps {
  readonly id: string
  readonly title: string
  readonly type?: string
  readonly state?: string | undefined
}

function Layout({ id, title, type, state }: NodeProps) {
  const styles = useStyles()
  return (
    <TreeItemLayout className={styles.layout} aside={<State value={state} />}>
      <AppLink to={resourcePath(id)} title={title}>
        <bdi>{title}</bdi>
      </AppLink>
      <Text size={200} className={styles.type}>
        {type}
      </Text>
    </TreeItemLayout>
  )
}

function Branch({ children, ...node }: NodeProps & { readonly children: ReactNode }) {
  return (
    <TreeItem itemType="branch" value={node.id}>
      <Layout {...node} />
      <Tree>{children}</Tree>
    </TreeItem>
  )
}

/** What stands in a level instead of rows, or after them. */
function Note({ children }: { readonly children: ReactNode }) {
  return (
    <TreeItem itemType="leaf">
      <TreeItemLayout>{children}</TreeItemLayout>
    </TreeItem>
  )
}

function RestOf({ found }: { readonly found: Omit<Rows<unknown>, 'reload'> }) {
  const { rows, loading, error, more, loadMore } = found
  if (error !== null) {
    return (
      <Note>
        <Refusal failure={error} />
      </Note>
    )
  }
  if (loading) return <Note>{appTexts.loading}</Note>
  if (more) {
    return (
      <Note>
        <Button size="small" onClick={loadMore}>
          {tableTexts.more}
        </Button>
      </Note>
    )
  }
  return rows.length === 0 ? <Note>{treeTexts.nothing}</Note> : null
}

function Groups({ subscriptionId }: { readonly subscriptionId: string }) {
  const found = useList('listGroups', { path: { subscriptionId } })
  return (
    <>
      {found.rows.map(({ id, name, properties }) => (
        <Branch key={id} id={id} title={name} state={properties.provisioningState}>
          <Content subscriptionId={subscriptionId} group={name} />
        </Branch>
      ))}
      <RestOf found={found} />
    </>
  )
}

function Content({
  subscriptionId,
  group,
}: {
  readonly subscriptionId: string
  readonly group: string
}) {
  const found = useList<'listGroupResources', ListedResource>('listGroupResources', {
    path: { subscriptionId, resourceGroupName: group },
    query: { $expand: 'createdTime,provisioningState', $top: pageSize },
  })
  // Nested ones are below their parents.
  const rows = found.rows.filter(({ type }) => type.split('/').length === 2)
  return (
    <>
      {rows.map((one) => (
        <ResourceNode key={one.id} resource={one} />
      ))}
      <RestOf found={{ ...found, rows }} />
    </>
  )
}

function ResourceNode({ resource }: { readonly resource: Nested }) {
  const { id, name, type, provisioningState } = resource
  const node = {
    id,
    title: name.slice(name.lastIndexOf('/') + 1),
    type,
    state: provisioningState ?? resource.properties?.provisioningState,
  }
  const types = useNestedTypes(id)
  if (types.length > 0) {
    return (
      <Branch {...node}>
        <NestedIn id={id} types={types} />
      </Branch>
    )
  }
  return (
    <TreeItem itemType="leaf" value={id}>
      <Layout {...node} />
    </TreeItem>
  )
}

interface Nested extends Envelope {
  readonly provisioningState?: string
  readonly properties?: { readonly provisioningState?: string }
}

interface NestedType {
  readonly segment: string
  readonly version: string
}

function useNestedTypes(id: string): readonly NestedType[] {
  const { subscriptionId = '', type = '' } = readId(id)
  const found = useCall('listProviders', { path: { subscriptionId } })
  const providers = (found.data as { readonly value: readonly Provider[] } | undefined)?.value ?? []
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

function NestedIn({ id, types }: { readonly id: string; readonly types: readonly NestedType[] }) {
  const found = useQuery<readonly Nested[], ApiFailure>({
    queryKey: ['nested', id, types],
    queryFn: async ({ signal }) =>
      (await Promise.all(types.map((type) => listNested(id, type, signal)))).flat(),
  })
  const rows = found.data ?? []
  return (
    <>
      {rows.map((one) => (
        <ResourceNode key={one.id} resource={one} />
      ))}
      {rows.length >= nestedMax && <Note>{treeTexts.perhapsMore(nestedMax)}</Note>}
      <RestOf
        found={{
          rows,
          loading: found.isLoading,
          error: found.error,
          more: false,
          loadMore: () => undefined,
        }}
      />
    </>
  )
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
