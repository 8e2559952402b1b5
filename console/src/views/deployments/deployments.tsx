/** Deployments of a resource group, the newest first. */

import { Button, Field, makeStyles, Select } from '@fluentui/react-components'
import { AddRegular } from '@fluentui/react-icons/svg/add'
import { groupId } from '../../api/ids.ts'
import { type ItemOf, useList } from '../../api/queries.ts'
import { useSearch, useSetSearch } from '../../app/address.ts'
import { useSubscriptions } from '../../app/subscription.ts'
import { AppLink, resourcePath, useGo } from '../../components/app-link.tsx'
import { Page } from '../../components/page.tsx'
import { momentText, State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { deploymentTexts } from '../../texts/work.ts'

type Deployment = ItemOf<'listDeployments'>

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
  {
    id: 'state',
    title: deploymentTexts.state,
    text: ({ properties }) => properties.provisioningState ?? '',
    show: ({ properties }) => <State value={properties.provisioningState} />,
  },
  {
    id: 'when',
    title: deploymentTexts.when,
    text: ({ properties }) => momentText(properties.timestamp),
    wideOnly: true,
  },
  {
    id: 'duration',
    title: deploymentTexts.duration,
    text: ({ properties }) => secondsText(properties.duration),
    wideOnly: true,
    numeric: true,
  },
]

/** `PT1.25S` → `1.3 s`. */
export function secondsText(duration: string | undefined): string {
  const seconds = /PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?/.exec(duration ?? '')
  if (seconds === null) return ''
  const [, hours = '0', minutes = '0', rest = '0'] = seconds
  return `${(Number(hours) * 3600 + Number(minutes) * 60 + Number(rest)).toFixed(1)} s`
}

export function Deployments() {
  const styles = useStyles()
  const go = useGo()
  const { group } = useSearch()
  const setSearch = useSetSearch()
  const { current } = useSubscriptions()
  const subscriptionId = current?.subscriptionId ?? ''
  const groups = useList(
    'listGroups',
    { path: { subscriptionId } },
    { enabled: current !== undefined },
  )
  const chosen = group ?? groups.rows[0]?.name
  const found = useList(
    'listDeployments',
    { path: { scope: groupId(subscriptionId, chosen ?? '') } },
    { enabled: chosen !== undefined, every: 10_000 },
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
        <Select value={chosen ?? ''} onChange={(_, { value }) => setSearch({ group: value })}>
          {groups.rows.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </Select>
      </Field>
      <Table
        {...found}
        label={deploymentTexts.title}
        name="deployments"
        columns={columns}
        keyOf={({ id }) => id}
        empty={{ title: chosen === undefined ? deploymentTexts.noGroups : deploymentTexts.none }}
      />
    </Page>
  )
}
