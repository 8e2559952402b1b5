/**
 * The steps of a deployment as a graph and as a table, with the reason of a failure. Fetched again while it runs.
 */

import { Button, makeStyles, Text, tokens } from '@fluentui/react-components'
import { call, type Problem } from '../../api/client.ts'
import { readId, shortId } from '../../api/ids.ts'
import { plainType } from '../../api/place.ts'
import { type Envelope, useCall, useList, useWrite } from '../../api/queries.ts'
import { AppLink, resourcePath } from '../../components/app-link.tsx'
import { Card } from '../../components/card.tsx'
import { asJson, CodeBlock } from '../../components/code-block.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { State } from '../../components/state.tsx'
import { Table } from '../../components/table.tsx'
import { deploymentTexts } from '../../texts/work.ts'
import type { TabProps } from '../resource/resource.tsx'
import { DeploymentGraph, type GraphStep } from './deployment-graph.tsx'
import { outcomeColumns } from './outcome-columns.tsx'

/** The properties of a step that the documents leave open. */
interface Step extends Envelope {
  readonly operationId: string
  readonly properties: {
    readonly provisioningOperation: string
    readonly provisioningState: string
    readonly timestamp?: string
    readonly duration?: string
    readonly statusMessage?: { readonly error?: Problem }
    readonly targetResource?: { readonly id: string; readonly resourceType: string }
  }
}

/** The properties of a deployment's `dependencies` that the documents leave open. */
interface Target {
  readonly id: string
  readonly resourceType: string
}

interface Dependency extends Target {
  readonly dependsOn: readonly Target[]
}

const ended = ['Succeeded', 'Failed', 'Canceled']

const useStyles = makeStyles({
  failed: {
    borderLeft: `3px solid ${tokens.colorPaletteRedBorder2}`,
    paddingLeft: tokens.spacingHorizontalM,
    overflowWrap: 'anywhere',
  },
  details: { margin: 0, paddingLeft: tokens.spacingHorizontalL },
})

export function Steps({ id }: TabProps) {
  const styles = useStyles()
  const { group = '', name } = readId(id)
  const scope = id.slice(0, id.toLowerCase().lastIndexOf('/providers/'))
  const path = { scope, deploymentName: name }
  const itself = useCall('getDeployment', { path }, { untilEnded: true })
  const state = itself.data?.properties.provisioningState ?? ''
  const running = !ended.includes(state)
  const found = useList<'listDeploymentOperations', Step>(
    'listDeploymentOperations',
    { path },
    { every: running ? 1_500 : false },
  )
  const cancel = useWrite(() => call('cancelDeployment', { path }))
  const failed = found.rows.filter(
    ({ properties }) => properties.statusMessage?.error !== undefined,
  )
  const { outputs } = (itself.data?.properties ?? {}) as { readonly outputs?: object }
  return (
    <>
      <Card title={deploymentTexts.operations}>
        <div role="status">
          <State value={state} />
        </div>
        {running && state !== '' && (
          <div>
            <Button disabled={cancel.isPending} onClick={() => cancel.mutate(undefined)}>
              {deploymentTexts.cancel}
            </Button>
          </div>
        )}
        {!running && group !== '' && (
          <div>
            <AppLink to={`/deployments/new?${new URLSearchParams({ group, from: name })}`}>
              {deploymentTexts.redeploy}
            </AppLink>
          </div>
        )}
        {cancel.error !== null && <Refusal failure={cancel.error} />}
        {failed.map(({ operationId, properties }) => (
          <div key={operationId} className={styles.failed} role="alert">
            <Text weight="semibold" block>
              {deploymentTexts.why}: {shortId(properties.targetResource?.id ?? '')}
            </Text>
            <Reason problem={properties.statusMessage?.error} />
          </div>
        ))}
        <DeploymentGraph
          steps={stepsOf(
            (itself.data?.properties.dependencies ?? []) as unknown as readonly Dependency[],
            found.rows,
          )}
          isRunning={running}
        />
        <Table
          {...found}
          label={deploymentTexts.operations}
          name="steps"
          keyOf={({ operationId }) => operationId}
          columns={[
            {
              id: 'target',
              title: deploymentTexts.target,
              text: ({ properties }) => shortId(properties.targetResource?.id ?? ''),
              show: ({ properties: { targetResource } }) =>
                targetResource === undefined ? null : (
                  <AppLink to={resourcePath(targetResource.id)}>
                    {shortId(targetResource.id)}
                  </AppLink>
                ),
              grow: 2,
            },
            {
              id: 'type',
              title: deploymentTexts.type,
              text: ({ properties }) => properties.targetResource?.resourceType ?? '',
              show: ({ properties }) => plainType(properties.targetResource?.resourceType ?? ''),
              wideOnly: true,
              grow: 2,
            },
            ...outcomeColumns,
          ]}
          empty={{ title: deploymentTexts.noChanges }}
        />
      </Card>
      {outputs !== undefined && (
        <Card title={deploymentTexts.outputs}>
          <CodeBlock label={deploymentTexts.outputs} text={asJson(outputs)} />
        </Card>
      )}
    </>
  )
}

/** The code and message, and the details below them. */
function Reason({ problem }: { readonly problem: Problem | undefined }) {
  const styles = useStyles()
  if (problem === undefined) return null
  return (
    <>
      {problem.code}: {problem.message}
      {(problem.details ?? []).length > 0 && (
        <ul className={styles.details}>
          {problem.details?.map((one) => (
            <li key={`${one.code} ${one.target} ${one.message}`}>
              <Reason problem={one} />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** Steps that have begun, and those that appear in dependencies. Ids are compared in lower case. */
function stepsOf(dependencies: readonly Dependency[], begun: readonly Step[]): GraphStep[] {
  const targets = new Map<string, Target>()
  const after = new Map<string, readonly string[]>()
  for (const one of dependencies) {
    for (const target of [one, ...one.dependsOn]) targets.set(target.id.toLowerCase(), target)
    after.set(
      one.id.toLowerCase(),
      one.dependsOn.map(({ id }) => id.toLowerCase()),
    )
  }
  const states = new Map<string, string>()
  for (const { properties } of begun) {
    if (properties.targetResource === undefined) continue
    const key = properties.targetResource.id.toLowerCase()
    if (!targets.has(key)) targets.set(key, properties.targetResource)
    states.set(key, properties.provisioningState)
  }
  const idOf = (key: string): string => targets.get(key)?.id ?? key
  return [...targets].map(([key, { id, resourceType }]) => ({
    id,
    type: resourceType,
    dependsOn: (after.get(key) ?? []).map(idOf),
    state: states.get(key),
  }))
}
