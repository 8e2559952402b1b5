/** What is out of order, and what is under way: resources, deployments, and migrations. */

import { Text } from '@fluentui/react-components'
import { quoted } from '../../api/filter.ts'
import { parentsOf, readId } from '../../api/ids.ts'
import { qualified } from '../../api/place.ts'
import { type Envelope, type Rows, useAllOf, useLists } from '../../api/queries.ts'
import { useUnderWay } from '../../components/activity.ts'
import { resourcePath } from '../../components/app-link.tsx'
import { Card } from '../../components/card.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { isBad, State } from '../../components/state.tsx'
import { appTexts } from '../../texts/app.ts'
import { homeTexts } from '../../texts/resources.ts'
import { type Migration, statusOf } from '../migrations/migration.ts'
import type { ListedResource } from '../resources/listed-resource.ts'
import { type Line, Lines } from './lines.tsx'

const shownMax = 8
/** Of several subscriptions; of one, the first page. */
const rowsMax = 1_000
/** Servers whose migrations are looked at. The area of migrations has all of them. */
const serversMax = 20
/** Groups whose deployments are looked at by somebody who may not read the audit trail. */
const groupsMax = 10
const ended = ['Succeeded', 'Canceled']

type Found = Pick<Rows<Line>, 'rows' | 'error' | 'loading'>

interface StandingProps {
  readonly subscriptionIds: readonly string[]
  /** Where the audit trail is read; undefined where the person may not. */
  readonly trail: string | undefined
}

export function Standing({ subscriptionIds, trail }: StandingProps) {
  const readMax = subscriptionIds.length > 1 ? rowsMax : 1
  const resources = useAllOf(
    useLists<'listResources', ListedResource>(
      'listResources',
      subscriptionIds.map((subscriptionId) => ({
        path: { subscriptionId },
        query: { $expand: 'createdTime,provisioningState' },
      })),
    ),
    readMax,
  )
  const groups = useAllOf(
    useLists(
      'listGroups',
      subscriptionIds.map((subscriptionId) => ({ path: { subscriptionId } })),
    ),
    readMax,
  )
  const states: readonly ListedResource[] = [
    ...groups.rows.map(({ id, name, type, properties }) => ({
      ...{ id, name, type },
      provisioningState: properties.provisioningState,
    })),
    ...resources.rows,
  ]
  const failure = resources.error ?? groups.error
  const loading = resources.loading || groups.loading
  const bad = states.filter(({ provisioningState: state }) => isBad(state))
  const working = states.filter(
    ({ provisioningState: state }) =>
      state !== undefined && !isBad(state) && !ended.includes(state),
  )
  const groupIds = groups.rows.map(({ id }) => id)
  const others = [
    useDeploymentsByTrail(trail),
    useDeploymentsOf(trail === undefined ? groupIds.slice(0, groupsMax) : []),
    useMigrations(subscriptionIds),
  ]
  const running = [...others.flatMap(({ rows }) => rows), ...working.map(lineOf)]
  const failures = [failure, ...others.map(({ error }) => error)].filter((one) => one !== null)
  return (
    <>
      <Card title={homeTexts.outOfOrder}>
        <Lines lines={bad.slice(0, shownMax).map(lineOf)} />
        {failure !== null && <Refusal failure={failure} quiet />}
        {bad.length === 0 && failure === null && (
          <Text>
            {loading
              ? appTexts.loading
              : resources.more
                ? homeTexts.fineSoFar(resources.rows.length)
                : homeTexts.allFine}
          </Text>
        )}
      </Card>
      <Card title={homeTexts.running}>
        <Lines lines={running.slice(0, shownMax)} />
        {failures.map((one) => (
          <Refusal key={`${one.path} ${one.status}`} failure={one} quiet />
        ))}
        {running.length === 0 && failures.length === 0 && (
          <Text>
            {loading || others.some((one) => one.loading)
              ? appTexts.loading
              : homeTexts.nothingRuns}
          </Text>
        )}
      </Card>
    </>
  )
}

function lineOf({ id, name, provisioningState }: ListedResource): Line {
  return {
    ...{ id, name },
    to: resourcePath(id),
    where: readId(id).group,
    state: <State value={provisioningState} />,
  }
}

/** No list has the deployments of all groups. The audit trail says which of this day were accepted and have not ended. */
function useDeploymentsByTrail(trail: string | undefined): Found {
  const written = `operationName eq ${quoted(qualified('Resources/deployments/write'))}`
  const found = useUnderWay({
    ...{ scope: trail ?? '', filter: written },
    enabled: trail !== undefined,
  })
  const rows = found.rows.map(({ id }) =>
    lineOf({ id, name: readId(id).name, type: '', provisioningState: 'Running' }),
  )
  return { ...found, rows }
}

function useDeploymentsOf(groupIds: readonly string[]): Found {
  const running = useAllOf(
    useLists(
      'listDeployments',
      groupIds.map((scope) => ({
        path: { scope },
        query: { $filter: "provisioningState eq 'Running'" },
      })),
      { enabled: groupIds.length > 0 },
    ),
    shownMax,
  )
  const rows = running.rows.map(({ id, name, type, properties }) =>
    lineOf({ ...{ id, name, type }, provisioningState: properties.provisioningState ?? '' }),
  )
  return { rows, error: running.error, loading: running.loading }
}

/** Migrations that have not ended, of the first servers. */
function useMigrations(subscriptionIds: readonly string[]): Found {
  const servers = useAllOf(
    useLists<'listResources', Envelope>(
      'listResources',
      subscriptionIds.map((subscriptionId) => ({
        path: { subscriptionId },
        query: { $filter: `resourceType eq '${qualified('DBforPostgreSQL/flexibleServers')}'` },
      })),
    ),
    serversMax,
  )
  const paths = servers.rows.slice(0, serversMax).map(({ id, name }) => {
    const { subscriptionId = '', group = '' } = readId(id)
    return { subscriptionId, resourceGroupName: group, flexibleServerName: name }
  })
  const found = useAllOf(
    useLists<'listMigrations', Envelope & Migration>(
      'listMigrations',
      paths.map((path) => ({ path, query: { migrationListFilter: 'Active' } })),
      { enabled: paths.length > 0 && !servers.loading },
    ),
    shownMax,
  )
  const rows = found.rows.map((one) => ({
    id: one.id,
    name: one.name,
    to: resourcePath(one.id),
    where: homeTexts.migration(
      parentsOf(one.id)
        .map((id) => readId(id).name)
        .join(),
    ),
    state: <State value={statusOf(one).state} />,
  }))
  return {
    rows,
    error: servers.error ?? found.error,
    loading: servers.loading || found.loading,
  }
}
