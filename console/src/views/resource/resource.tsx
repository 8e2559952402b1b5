/** One resource, group or subscription: its name and actions at the top, and its tabs. */

import { Button, makeStyles, Select, Tab, TabList, tokens } from '@fluentui/react-components'
import { DeleteRegular } from '@fluentui/react-icons/svg/delete'
import { useLocation } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { parentsOf, readId, scopesAbove, shortId } from '../../api/ids.ts'
import { plainType } from '../../api/place.ts'
import { refusalOf, useGet } from '../../api/queries.ts'
import { useVersions } from '../../api/versions.ts'
import { useSearch, useSetSearch } from '../../app/address.ts'
import { NotFound } from '../../app/frame.tsx'
import { useSubscriptions } from '../../app/subscription.ts'
import { resourcePath, useGo } from '../../components/app-link.tsx'
import { asJson, CodeBlock } from '../../components/code-block.tsx'
import { Loading, Page } from '../../components/page.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { State } from '../../components/state.tsx'
import { resourceTexts } from '../../texts/resources.ts'
import { Overview } from './overview.tsx'

const DeleteDialog = lazy(async () => ({
  default: (await import('../resources/delete-dialog.tsx')).DeleteDialog,
}))

/** A resource as it was read, in any API version. */
export interface AnyResource {
  readonly id: string
  readonly name?: string
  readonly displayName?: string
  /** Of a subscription, which has no properties. */
  readonly state?: string
  readonly type?: string
  readonly location?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly properties?: Readonly<Record<string, unknown>>
  readonly systemData?: Readonly<Record<string, string>>
}

export interface TabProps {
  readonly id: string
  readonly resource: AnyResource
  readonly version: string
}

interface TabEntry {
  readonly value: string
  readonly title: string
  readonly view: React.ComponentType<TabProps>
  /** The types that have the tab, in lower case and without the vendor word; all types if left out. */
  readonly types?: readonly string[]
  /** Limits the tab to groups, to subscriptions, or to other resources. */
  readonly of?: 'group' | 'subscription' | 'resource'
}

function Json({ resource }: TabProps) {
  return <CodeBlock label={resourceTexts.tabs.json} text={asJson(resource)} wrap={false} />
}

/** The tabs in their order. Add a line here for a tab of one type. */
const tabs: readonly TabEntry[] = [
  {
    value: 'steps',
    title: resourceTexts.tabs.operations,
    view: lazy(async () => ({ default: (await import('../deployments/steps.tsx')).Steps })),
    types: ['resources/deployments'],
  },
  {
    value: 'containers',
    title: resourceTexts.tabs.containers,
    view: lazy(async () => ({
      default: (await import('../containers/containers-tab.tsx')).ContainersTab,
    })),
    types: ['containerinstance/containergroups'],
  },
  {
    value: 'metrics',
    title: resourceTexts.tabs.metrics,
    view: lazy(async () => ({
      default: (await import('../containers/metrics-tab.tsx')).MetricsTab,
    })),
    types: ['containerinstance/containergroups'],
  },
  {
    value: 'migration',
    title: resourceTexts.tabs.migration,
    view: lazy(async () => ({
      default: (await import('../migrations/migration-tab.tsx')).MigrationTab,
    })),
    types: ['dbforpostgresql/flexibleservers/migrations'],
  },
  {
    value: 'share',
    title: resourceTexts.tabs.share,
    view: lazy(async () => ({ default: (await import('../sharing/share-tab.tsx')).ShareTab })),
    types: ['datashare/accounts/shares'],
  },
  {
    value: 'synchronizations',
    title: resourceTexts.tabs.synchronizations,
    view: lazy(async () => ({
      default: (await import('../sharing/synchronizations-tab.tsx')).SynchronizationsTab,
    })),
    types: ['datashare/accounts/sharesubscriptions'],
  },
  {
    value: 'api',
    title: resourceTexts.tabs.operations,
    view: lazy(async () => ({
      default: (await import('../apis/operations-tab.tsx')).OperationsTab,
    })),
    types: ['apimanagement/service/apis', 'apimanagement/service/workspaces/apis'],
  },
  {
    value: 'connection',
    title: resourceTexts.tabs.connection,
    view: lazy(async () => ({
      default: (await import('../apis/connection-tab.tsx')).ConnectionTab,
    })),
    types: ['apimanagement/service/authorizationproviders/authorizations'],
  },
  { value: 'overview', title: resourceTexts.tabs.overview, view: Overview },
  {
    value: 'json',
    title: resourceTexts.tabs.json,
    view: Json,
  },
  {
    value: 'edit',
    title: resourceTexts.edit,
    view: lazy(async () => ({ default: (await import('../write/edit-tab.tsx')).EditTab })),
    of: 'resource',
  },
  {
    value: 'tags',
    title: resourceTexts.tabs.tags,
    view: lazy(async () => ({ default: (await import('./tags.tsx')).Tags })),
  },
  {
    value: 'locks',
    title: resourceTexts.tabs.locks,
    view: lazy(async () => ({ default: (await import('./locks.tsx')).Locks })),
  },
  {
    value: 'access',
    title: resourceTexts.tabs.access,
    view: lazy(async () => ({ default: (await import('../access/access-tab.tsx')).AccessTab })),
  },
  {
    value: 'health',
    title: resourceTexts.tabs.health,
    view: lazy(async () => ({ default: (await import('./health-tab.tsx')).HealthTab })),
    of: 'resource',
  },
  {
    value: 'activity',
    title: resourceTexts.tabs.activity,
    view: lazy(async () => ({ default: (await import('./activity-tab.tsx')).ActivityTab })),
  },
]

function tabsOf(id: string): readonly TabEntry[] {
  const { type, group } = readId(id)
  const kind = type !== undefined ? 'resource' : group === undefined ? 'subscription' : 'group'
  return tabs.filter(
    (one) =>
      (one.types === undefined || one.types.includes(plainType(type ?? '').toLowerCase())) &&
      (one.of === undefined || one.of === kind),
  )
}

const useStyles = makeStyles({
  lead: {
    display: 'inline-flex',
    gap: tokens.spacingHorizontalS,
    flexWrap: 'wrap',
    alignItems: 'center',
  },
  version: { width: '160px' },
  tabs: { flexWrap: 'wrap' },
})

export function Resource() {
  const { pathname } = useLocation()
  const id = decodeURI(pathname.slice('/resource'.length)).replace(/\/$/, '')
  if (!/^\/(?:subscriptions|providers)\/./i.test(id)) return <NotFound />
  // Another resource is another page, so that unsaved input is not carried over.
  return <ResourcePage key={id} id={id} />
}

function ResourcePage({ id }: { readonly id: string }) {
  const styles = useStyles()
  const go = useGo()
  const shown = tabsOf(id)
  const { view = shown[0]?.value ?? 'overview', version: wanted } = useSearch()
  const setSearch = useSetSearch()
  const [deleting, setDeleting] = useState(false)
  const versions = useVersions(id)
  const version = wanted ?? versions[0] ?? ''
  const found = useGet<AnyResource>(
    id,
    { 'api-version': version },
    { enabled: version !== '', untilEnded: true },
  )
  const resource = found.data
  const refused = refusalOf(found)
  const Shown = (shown.find(({ value }) => value === view) ?? shown[0])?.view
  const { type } = readId(id)
  // Their names are shown above, once they are here.
  useSubscriptions()
  const crumbs = [
    ...scopesAbove(id)
      .filter((scope) => scope !== '/')
      .map((scope) => ({ title: shortId(scope), to: resourcePath(scope) })),
    ...parentsOf(id).map((above) => ({ title: readId(above).name, to: resourcePath(above) })),
  ]
  return (
    <Page
      title={resource?.displayName ?? readId(id).name}
      crumbs={crumbs}
      lead={
        <span className={styles.lead}>
          {resource?.type ?? type}
          <State value={stateOf(resource)} />
        </span>
      }
      actions={
        <>
          {versions.length > 1 && (
            <Select
              className={styles.version}
              aria-label={resourceTexts.version}
              value={version}
              onChange={(_, { value }) => setSearch({ version: value })}
            >
              {versions.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </Select>
          )}
          {scopesAbove(id).length > 1 && (
            <Button icon={<DeleteRegular />} onClick={() => setDeleting(true)}>
              {resourceTexts.delete}
            </Button>
          )}
        </>
      }
    >
      {refused !== null ? (
        <Refusal failure={refused} onRetry={() => void found.refetch()} />
      ) : resource === undefined || Shown === undefined ? (
        <Loading />
      ) : (
        <>
          <TabList
            className={styles.tabs}
            selectedValue={view}
            onTabSelect={(_, { value }) => setSearch({ view: String(value) })}
          >
            {shown.map(({ value, title }) => (
              <Tab key={value} value={value}>
                {title}
              </Tab>
            ))}
          </TabList>
          <Suspense fallback={<Loading />}>
            <Shown id={id} resource={resource} version={version} />
          </Suspense>
        </>
      )}
      <Suspense>
        {deleting && (
          <DeleteDialog
            ids={[id]}
            onClose={(deleted) => {
              setDeleting(false)
              if (deleted) go('/resources', { replace: true })
            }}
          />
        )}
      </Suspense>
    </Page>
  )
}

function stateOf(resource: AnyResource | undefined): string | undefined {
  const state = resource?.properties?.['provisioningState'] ?? resource?.state
  return typeof state === 'string' ? state : undefined
}
