/** Resources: groups and their content, as tables that can be searched, filtered and acted on. */

import { Button, makeStyles, Select, Tab, TabList, tokens } from '@fluentui/react-components'
import { AddRegular } from '@fluentui/react-icons/svg/add'
import { ArrowClockwiseRegular } from '@fluentui/react-icons/svg/arrow-clockwise'
import { DeleteRegular } from '@fluentui/react-icons/svg/delete'
import { lazy, Suspense, useState } from 'react'
import { readId, shortId } from '../../api/ids.ts'
import { plainType } from '../../api/place.ts'
import { type ItemOf, useList, useLists } from '../../api/queries.ts'
import { useSearch, useSetSearch } from '../../app/address.ts'
import { everywhere } from '../../app/scopes.ts'
import { useGroups, useScopes, useSubscriptions } from '../../app/subscription.ts'
import { AppLink, resourcePath } from '../../components/app-link.tsx'
import { Loading, Page } from '../../components/page.tsx'
import { momentText, State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { createGroupTexts, resourcesTexts } from '../../texts/resources.ts'
import type { ListedResource } from './listed-resource.ts'
import { ChoiceFilter, filterOf, TextFilter, TypeFilter } from './resource-filters.tsx'
import { SavedViews } from './saved-views.tsx'

const CreateGroup = lazy(async () => ({
  default: (await import('./create-group.tsx')).CreateGroup,
}))
const ResourceTree = lazy(async () => ({
  default: (await import('./resource-tree.tsx')).ResourceTree,
}))
const DeleteDialog = lazy(async () => ({
  default: (await import('./delete-dialog.tsx')).DeleteDialog,
}))

const useStyles = makeStyles({
  filters: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalS },
})

export function Resources() {
  const { view = 'resources', create, where } = useSearch()
  const setSearch = useSetSearch()
  const { all, current, looked, wide } = useSubscriptions()
  const { scopes } = useScopes()
  const group = where === 'all' ? undefined : scopes.find(({ id }) => id === wide)
  const subscriptionIds = (where === 'all' ? all : looked).map((one) => one.subscriptionId)
  const isEverywhere = subscriptionIds.length > 1
  return (
    <Page
      title={resourcesTexts.title}
      lead={
        isEverywhere || view === 'tree'
          ? group?.name || resourcesTexts.everywhere
          : current?.displayName
      }
      actions={
        <Button
          appearance="primary"
          icon={<AddRegular />}
          onClick={() => setSearch({ create: 'group' })}
        >
          {createGroupTexts.button}
        </Button>
      }
    >
      <TabList
        selectedValue={view}
        onTabSelect={(_, { value }) =>
          setSearch({ view: String(value), type: undefined, tag: undefined })
        }
      >
        <Tab value="resources">{resourcesTexts.resources}</Tab>
        <Tab value="groups">{resourcesTexts.groups}</Tab>
        <Tab value="tree">{resourcesTexts.tree}</Tab>
      </TabList>
      {subscriptionIds.length > 0 &&
        (view === 'groups' ? (
          <Groups subscriptionIds={subscriptionIds} />
        ) : view === 'tree' ? (
          <Suspense fallback={<Loading />}>
            <ResourceTree />
          </Suspense>
        ) : (
          <AllResources subscriptionIds={subscriptionIds} />
        ))}
      <Suspense>
        {create === 'group' && <CreateGroup onClose={() => setSearch({ create: undefined })} />}
      </Suspense>
    </Page>
  )
}

type Group = ItemOf<'listGroups'>

const nameColumn = {
  id: 'name',
  title: resourcesTexts.name,
  text: ({ name }: { readonly name: string }) => name,
  show: ({ id, name }: { readonly id: string; readonly name: string }) => (
    <AppLink to={resourcePath(id)}>
      <bdi>{name}</bdi>
    </AppLink>
  ),
  grow: 2,
}

function tagsText(tags: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(tags ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')
}

const groupColumns: readonly Column<Group>[] = [
  nameColumn,
  {
    id: 'location',
    title: resourcesTexts.location,
    text: ({ location }) => location,
    wideOnly: true,
  },
  {
    id: 'state',
    title: resourcesTexts.state,
    text: ({ properties }) => properties.provisioningState,
    show: ({ properties }) => <State value={properties.provisioningState} />,
  },
  { id: 'tags', title: resourcesTexts.tags, text: ({ tags }) => tagsText(tags), wideOnly: true },
]

const resourceColumns: readonly Column<ListedResource>[] = [
  nameColumn,
  {
    id: 'type',
    title: resourcesTexts.type,
    text: ({ type }) => type,
    show: ({ type }) => plainType(type),
    grow: 2.6,
    wideOnly: true,
  },
  {
    id: 'group',
    title: resourcesTexts.group,
    text: ({ id }) => readId(id).group ?? '',
    wideOnly: true,
  },
  {
    id: 'location',
    title: resourcesTexts.location,
    text: ({ location }) => location ?? '',
    grow: 0.7,
    wideOnly: true,
  },
  {
    id: 'state',
    title: resourcesTexts.state,
    text: ({ provisioningState }) => provisioningState ?? '',
    // Long enough for the usual words.
    grow: 1.2,
    show: ({ provisioningState }) => <State value={provisioningState} />,
  },
  { id: 'tags', title: resourcesTexts.tags, text: ({ tags }) => tagsText(tags), wideOnly: true },
  {
    id: 'created',
    title: resourcesTexts.created,
    text: ({ createdTime }) => momentText(createdTime),
    // Long enough for a moment.
    grow: 1.9,
    wideOnly: true,
  },
]

const subscriptionColumn = {
  id: 'subscription',
  title: resourcesTexts.subscription,
  text: ({ id }: { readonly id: string }) => shortId(`/subscriptions/${readId(id).subscriptionId}`),
  wideOnly: true,
}

/** With the subscription, where there are several. */
function columnsOver<T extends { readonly id: string }>(
  subscriptionIds: readonly string[],
  [name, ...others]: readonly Column<T>[],
): readonly Column<T>[] {
  if (name === undefined || subscriptionIds.length < 2) return [name ?? [], others].flat()
  return [name, subscriptionColumn, ...others]
}

/** Where one looks: in one subscription, or in all that one may read. */
function WhereFilter() {
  const { where } = useSearch()
  const setSearch = useSetSearch()
  const { all, current, wide } = useSubscriptions()
  const { scopes, choose } = useScopes()
  if (all.length < 2) return null
  const group = scopes.find(({ id }) => id === wide && id !== everywhere)
  return (
    <Select
      aria-label={resourcesTexts.subscription}
      value={
        where === 'all' || wide === everywhere ? 'all' : wide || (current?.subscriptionId ?? '')
      }
      onChange={(_, { value }) => {
        if (value !== 'all') choose(value)
        setSearch({ where: value === 'all' ? value : undefined, group: undefined })
      }}
    >
      {all.map(({ subscriptionId, displayName }) => (
        <option key={subscriptionId} value={subscriptionId}>
          {displayName}
        </option>
      ))}
      {group !== undefined && <option value={group.id}>{group.name}</option>}
      <option value="all">{resourcesTexts.everywhere}</option>
    </Select>
  )
}

interface ListProps {
  readonly subscriptionIds: readonly string[]
}

function Groups({ subscriptionIds }: ListProps) {
  const styles = useStyles()
  const { q = '' } = useSearch()
  const setSearch = useSetSearch()
  const found = useLists(
    'listGroups',
    subscriptionIds.map((subscriptionId) => ({ path: { subscriptionId } })),
  )
  return (
    <>
      <div className={styles.filters}>
        <WhereFilter />
        <TextFilter
          label={resourcesTexts.filter}
          value={q}
          onChange={(text) => setSearch({ q: text }, { replace: true })}
        />
        <SavedViews table="groups" />
      </div>
      <Table
        {...found}
        rows={byName(found.rows, q)}
        label={resourcesTexts.groups}
        name="groups"
        columns={columnsOver(subscriptionIds, groupColumns)}
        keyOf={({ id }) => id}
        empty={{
          title: resourcesTexts.emptyGroups,
          text: q === '' ? resourcesTexts.emptyText : resourcesTexts.emptyFiltered,
        }}
        selection={{ actions: (rows, clear) => <DeleteButton rows={rows} onDone={clear} /> }}
      />
    </>
  )
}

/** The page size: large enough that a long list needs few requests, small enough to be fast. */
const pageSize = '500'

function AllResources({ subscriptionIds }: ListProps) {
  const styles = useStyles()
  const { type = '', group = '', q = '', tag = '' } = useSearch()
  const setSearch = useSetSearch()
  const { groups } = useGroups()
  const query = {
    $expand: 'createdTime,provisioningState',
    $filter: filterOf({ q, type, tag }),
    $top: pageSize,
  }
  const [subscriptionId = ''] = subscriptionIds
  const isInGroup = group !== '' && subscriptionIds.length === 1
  const all = useLists<'listResources', ListedResource>(
    'listResources',
    subscriptionIds.map((one) => ({ path: { subscriptionId: one }, query })),
    { enabled: !isInGroup },
  )
  const inGroup = useList<'listGroupResources', ListedResource>(
    'listGroupResources',
    { path: { subscriptionId, resourceGroupName: group }, query },
    { enabled: isInGroup },
  )
  const found = isInGroup ? inGroup : all
  return (
    <>
      <div className={styles.filters}>
        <WhereFilter />
        <TextFilter
          label={resourcesTexts.filter}
          value={q}
          onChange={(text) => setSearch({ q: text }, { replace: true })}
        />
        {subscriptionIds.length === 1 && (
          <ChoiceFilter
            label={resourcesTexts.group}
            any={resourcesTexts.anyGroup}
            choices={groups.rows.map(({ name }) => name)}
            value={group}
            onChange={(value) => setSearch({ group: value })}
          />
        )}
        <TypeFilter
          subscriptionId={subscriptionId}
          seen={found.rows}
          value={type}
          onChange={(value) => setSearch({ type: value })}
        />
        <TextFilter
          label={resourcesTexts.tagFilter}
          value={tag}
          onChange={(text) => setSearch({ tag: text }, { replace: true })}
        />
        <Button icon={<ArrowClockwiseRegular />} onClick={found.reload}>
          {resourcesTexts.refresh}
        </Button>
        <SavedViews table="resources" />
      </div>
      <Table
        {...found}
        label={resourcesTexts.resources}
        name="resources"
        columns={columnsOver(subscriptionIds, resourceColumns)}
        keyOf={({ id }) => id}
        empty={{
          title: resourcesTexts.emptyTitle,
          text: query.$filter === undefined ? resourcesTexts.emptyText : resourcesTexts.nonePasses,
        }}
        selection={{ actions: (rows, clear) => <DeleteButton rows={rows} onDone={clear} /> }}
      />
    </>
  )
}

function byName<T extends { readonly name: string }>(
  rows: readonly T[],
  text: string,
): readonly T[] {
  const wanted = text.toLowerCase()
  return wanted === '' ? rows : rows.filter(({ name }) => name.toLowerCase().includes(wanted))
}

function DeleteButton({
  rows,
  onDone,
}: {
  readonly rows: readonly { readonly id: string; readonly name: string }[]
  readonly onDone: () => void
}) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button size="small" icon={<DeleteRegular />} onClick={() => setOpen(true)}>
        {resourcesTexts.delete(rows.length)}
      </Button>
      <Suspense>
        {open && (
          <DeleteDialog
            ids={rows.map(({ id }) => id)}
            onClose={(deleted) => {
              setOpen(false)
              if (deleted) onDone()
            }}
          />
        )}
      </Suspense>
    </>
  )
}
