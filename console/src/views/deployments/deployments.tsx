/** Deployments of a resource group, the newest first. */

import { Button, Field, makeStyles, Select } from '@fluentui/react-components'
import { AddRegular } from '@fluentui/react-icons/svg/add'
import { groupId } from '../../api/ids.ts'
import { type ItemOf, useList } from '../../api/queries.ts'
import { useSearch, useSetSearch } from '../../app/address.ts'
import { useGroups } from '../../app/subscription.ts'
import { AppLink, resourcePath, useGo } from '../../components/app-link.tsx'
import { Page } from '../../components/page.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { deploymentTexts } from '../../texts/work.ts'
import { outcomeColumns } from './outcome-columns.tsx'

type Deployment = ItemOf<'listDeployments'>

/** No name of a group. */
const none = '/'

const useStyles = makeStyles({ pick: { maxWidth: '320px' } })

const columns: readonly Column<Deployment>[] = [
  {
    id: 'name',
    title: deploymentTexts.name,
    text: ({ name }) => name,
    show: ({ id, name }) => (
      <AppLink to={resourcePath(id, 'steps')}>
        <bdi>{name}</bdi>
      </AppLink>
    ),
    grow: 2,
  },
  ...outcomeColumns,
]

export function Deployments() {
  const styles = useStyles()
  const go = useGo()
  const { group, of } = useSearch()
  const isOfSubscription = of === 'subscription'
  const setSearch = useSetSearch()
  const { subscriptionId, groups } = useGroups()
  const chosen = group ?? groups.rows[0]?.name
  const found = useList(
    'listDeployments',
    {
      path: {
        scope: isOfSubscription
          ? `/subscriptions/${subscriptionId}`
          : groupId(subscriptionId, chosen ?? ''),
      },
    },
    { enabled: (isOfSubscription || chosen !== undefined) && subscriptionId !== '' },
  )
  return (
    <Page
      title={deploymentTexts.title}
      lead={deploymentTexts.lead}
      actions={
        <Button
          appearance="primary"
          icon={<AddRegular />}
          onClick={() => go(`/deployments/new?group=${encodeURIComponent(chosen ?? '')}`)}
        >
          {deploymentTexts.new}
        </Button>
      }
    >
      <Field label={deploymentTexts.group} className={styles.pick}>
        <Select
          value={isOfSubscription ? none : (chosen ?? '')}
          onChange={(_, { value }) =>
            setSearch(value === none ? { of: 'subscription' } : { of: undefined, group: value })
          }
        >
          {groups.rows.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
          <option value={none}>{deploymentTexts.ofSubscription}</option>
        </Select>
      </Field>
      {groups.error !== null && <Refusal failure={groups.error} onRetry={groups.reload} />}
      <Table
        {...found}
        label={deploymentTexts.title}
        name="deployments"
        columns={columns}
        keyOf={({ id }) => id}
        empty={{
          title: isOfSubscription
            ? deploymentTexts.noneOfSubscription
            : chosen === undefined
              ? deploymentTexts.noGroups
              : deploymentTexts.none,
        }}
      />
    </Page>
  )
}
