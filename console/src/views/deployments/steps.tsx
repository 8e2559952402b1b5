/** What became of each resource of a deployment, with the reason where one failed. Asked again while it goes on. */

import { Button, makeStyles, Text, tokens } from '@fluentui/react-components'
import { call } from '../../api/client.ts'
import { readId, shortId } from '../../api/ids.ts'
import { type Envelope, useCall, useList, useWrite } from '../../api/queries.ts'
import { AppLink, resourcePath } from '../../components/app-link.tsx'
import { Card } from '../../components/card.tsx'
import { asJson, CodeBlock } from '../../components/code-block.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { State } from '../../components/state.tsx'
import { Table } from '../../components/table.tsx'
import { deploymentTexts } from '../../texts/work.ts'
import type { TabProps } from '../resource/resource.tsx'
import { outcomeColumns } from './outcome-columns.tsx'

/** What the documents leave open of a step. */
interface Step extends Envelope {
  readonly operationId: string
  readonly properties: {
    readonly provisioningOperation: string
    readonly provisioningState: string
    readonly timestamp?: string
    readonly duration?: string
    readonly statusMessage?: {
      readonly error?: { readonly code: string; readonly message: string }
    }
    readonly targetResource?: { readonly id: string; readonly resourceType: string }
  }
}

const ended = ['Succeeded', 'Failed', 'Canceled']

const useStyles = makeStyles({
  failed: {
    borderLeft: `3px solid ${tokens.colorPaletteRedBorder2}`,
    paddingLeft: tokens.spacingHorizontalM,
    overflowWrap: 'anywhere',
  },
})

export function Steps({ id }: TabProps) {
  const styles = useStyles()
  const { subscriptionId = '', group = '', name } = readId(id)
  const scope = id.slice(0, id.toLowerCase().lastIndexOf('/providers/'))
  const path = { subscriptionId, resourceGroupName: group, deploymentName: name }
  const itself = useCall(
    'getDeployment',
    { path: { scope, deploymentName: name } },
    { untilEnded: true },
  )
  const state = itself.data?.properties.provisioningState ?? ''
  const running = !ended.includes(state)
  const found = useList<'listDeploymentOperations', Step>(
    'listDeploymentOperations',
    { path },
    { every: running ? 1_500 : false },
  )
  const cancel = useWrite(() => call('cancelDeployment', { path: { scope, deploymentName: name } }))
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
            {properties.statusMessage?.error?.code}: {properties.statusMessage?.error?.message}
          </div>
        ))}
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
              title: 'Type',
              text: ({ properties }) => properties.targetResource?.resourceType ?? '',
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
