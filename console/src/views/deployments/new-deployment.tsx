/** Deploys a template to a group, after a preview of its changes. */

import {
  Badge,
  Button,
  Field,
  Input,
  makeStyles,
  Select,
  Text,
  Textarea,
  tokens,
} from '@fluentui/react-components'
import { useRef, useState } from 'react'
import { type BodyOf, call } from '../../api/client.ts'
import { groupId, shortId } from '../../api/ids.ts'
import { qualified } from '../../api/place.ts'
import { useCall, useWrite } from '../../api/queries.ts'
import { useSearch, useSetSearch } from '../../app/address.ts'
import { useGroups } from '../../app/subscription.ts'
import { resourcePath, useGo } from '../../components/app-link.tsx'
import { Card } from '../../components/card.tsx'
import { type Change, Changes } from '../../components/changes.tsx'
import { asJson } from '../../components/code-block.tsx'
import { GroupField, useMissingGroup } from '../../components/group-field.tsx'
import { Options } from '../../components/options.tsx'
import { Loading, Page } from '../../components/page.tsx'
import { type ReadJson, readJson } from '../../components/read-json.ts'
import { Refusal } from '../../components/refusal.tsx'
import { deploymentTexts } from '../../texts/work.ts'
import { type ExampleName, examples } from './examples.ts'
import { TemplateField, TemplateProblems } from './template-field.tsx'

const useStyles = makeStyles({
  columns: {
    display: 'grid',
    gridTemplateColumns: 'repeat(auto-fit, minmax(min(420px, 100%), 1fr))',
    gap: tokens.spacingHorizontalXL,
    alignItems: 'start',
  },
  fields: {
    display: 'grid',
    gridTemplateColumns: 'minmax(0, 1fr)',
    gap: tokens.spacingVerticalM,
    minWidth: 0,
  },
  small: { '& textarea': { minHeight: '80px' } },
  actions: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalM },
  list: { listStyle: 'none', margin: 0, padding: 0, display: 'grid', gap: tokens.spacingVerticalM },
  line: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalS, alignItems: 'center' },
})

/** The properties of a what-if that the documents leave open. */
interface ResourceChange {
  readonly resourceId: string
  readonly changeType: string
  readonly before?: object
  readonly after?: object
  readonly delta?: readonly Delta[]
}

interface Delta extends Change {
  readonly children?: readonly Delta[]
}

type Mode = keyof typeof deploymentTexts.modes

/** With `from` in the address, the form begins with the template of an earlier deployment. */
export function NewDeployment() {
  const { group = '', from } = useSearch()
  const { subscriptionId } = useGroups()
  const path = { scope: groupId(subscriptionId, group), deploymentName: from ?? '' }
  const ask = { enabled: from !== undefined && subscriptionId !== '', live: false }
  const exported = useCall('exportDeployment', { path }, ask)
  const earlier = useCall('getDeployment', { path }, ask)
  const failure = exported.error ?? earlier.error
  if (from === undefined) return <DeploymentForm begin={{ template: examples.container }} />
  if (failure !== null) {
    return (
      <Page title={deploymentTexts.new}>
        <Refusal failure={failure} />
      </Page>
    )
  }
  if (exported.data === undefined || earlier.data === undefined) return <Loading />
  const { parameters, mode } = earlier.data.properties as Earlier
  const begin = { template: exported.data.template, parameters: valuesOf(parameters), mode }
  return <DeploymentForm begin={begin} />
}

/** The properties of an earlier deployment that the documents leave open. */
interface Earlier {
  readonly mode?: Mode
  readonly parameters?: Readonly<Record<string, { readonly value?: unknown }>>
}

/** Secure parameters have no value that can be read: they are typed again. */
function valuesOf(parameters: Earlier['parameters'] = {}): object {
  const given = Object.entries(parameters).filter(([, { value }]) => value !== undefined)
  return Object.fromEntries(given.map(([name, { value }]) => [name, { value }]))
}

interface Begin {
  readonly template: object
  readonly parameters?: object
  readonly mode?: Mode
}

function DeploymentForm({ begin }: { readonly begin: Begin }) {
  const styles = useStyles()
  const go = useGo()
  const { group = '' } = useSearch()
  const setSearch = useSetSearch()
  const { subscriptionId } = useGroups()
  const isMissing = useMissingGroup(group)
  const [name, setName] = useState(() => `console-${Date.now().toString(36)}`)
  const [template, setTemplate] = useState(() => asJson(begin.template))
  const [parameters, setParameters] = useState(() => asJson(begin.parameters ?? {}))
  const [mode, setMode] = useState<Mode>(begin.mode ?? 'Incremental')
  const read = readText(template)
  const given = readText(parameters)
  const text = { value: template, problem: read.problem, box: useRef<HTMLTextAreaElement>(null) }
  const scope = groupId(subscriptionId, group)
  const path = { scope, deploymentName: name }
  const properties = { mode, template: read.value, parameters: given.value }
  const whatIf = useWrite(async () => {
    const body: BodyOf<'whatIfDeployment'> = { properties }
    return (await call('whatIfDeployment', { path, body })).body
  })
  const deploy = useWrite(async () => {
    const body: BodyOf<'putDeployment'> = { properties }
    return call('putDeployment', { path, body })
  })
  const ready =
    group !== '' &&
    !isMissing &&
    name !== '' &&
    read.problem === undefined &&
    given.problem === undefined
  const failure = deploy.error ?? whatIf.error
  return (
    <Page title={deploymentTexts.new} lead={deploymentTexts.lookFirst}>
      <div className={styles.columns}>
        <div className={styles.fields}>
          <GroupField
            group={group}
            onGroup={(value) => setSearch({ group: value }, { replace: true })}
          />
          <Field label={deploymentTexts.name} required>
            <Input value={name} onChange={(_, { value }) => setName(value)} />
          </Field>
          <Field label={deploymentTexts.example}>
            <Select
              onChange={(_, { value }) => setTemplate(asJson(examples[value as ExampleName]))}
            >
              <Options of={deploymentTexts.examples} />
            </Select>
          </Field>
          <TemplateField {...text} onChange={setTemplate} />
          <Field label={deploymentTexts.parameters} validationMessage={given.problem}>
            <Textarea
              className={styles.small}
              spellCheck={false}
              resize="vertical"
              value={parameters}
              onChange={(_, { value }) => setParameters(value)}
            />
          </Field>
          <Field label={deploymentTexts.mode}>
            <Select value={mode} onChange={(_, { value }) => setMode(value as Mode)}>
              <Options of={deploymentTexts.modes} />
            </Select>
          </Field>
        </div>
        <div className={styles.fields}>
          <div className={styles.actions}>
            <Button disabled={!ready || whatIf.isPending} onClick={() => whatIf.mutate(undefined)}>
              {deploymentTexts.whatIf}
            </Button>
            <Button
              appearance="primary"
              disabled={!ready || deploy.isPending}
              onClick={() =>
                deploy.mutate(undefined, {
                  onSuccess: () =>
                    go(
                      resourcePath(
                        `${scope}/providers/${qualified('Resources')}/deployments/${name}`,
                        'steps',
                      ),
                    ),
                })
              }
            >
              {deploymentTexts.deploy}
            </Button>
          </div>
          <TemplateProblems {...text} />
          {failure !== null && <Refusal failure={failure} />}
          {whatIf.data !== undefined && (
            <WhatIf
              changes={(whatIf.data.properties['changes'] ?? []) as readonly ResourceChange[]}
            />
          )}
        </div>
      </div>
    </Page>
  )
}

const colors = { Create: 'success', Delete: 'danger', Modify: 'warning' } as const

function WhatIf({ changes }: { readonly changes: readonly ResourceChange[] }) {
  const styles = useStyles()
  return (
    <Card title={deploymentTexts.changes}>
      {changes.length === 0 && <Text>{deploymentTexts.noChanges}</Text>}
      <ul className={styles.list}>
        {changes.map((one) => (
          <li key={one.resourceId}>
            <div className={styles.line}>
              <Badge
                appearance="tint"
                color={colors[one.changeType as keyof typeof colors] ?? 'informative'}
              >
                {deploymentTexts.kinds[one.changeType] ?? one.changeType}
              </Badge>
              <Text title={one.resourceId}>{shortId(one.resourceId)}</Text>
            </div>
            <Changes changes={changesOf(one)} quiet />
          </li>
        ))}
      </ul>
    </Card>
  )
}

function changesOf(one: ResourceChange): readonly Change[] {
  if (one.changeType === 'Create') return flat(one.after, 'after')
  if (one.changeType === 'Delete') return flat(one.before, 'before')
  return deltas(one.delta ?? [], '')
}

function deltas(list: readonly Delta[], above: string): readonly Change[] {
  return list.flatMap(({ path, before, after, children }) => {
    const whole = above === '' ? path : `${above}.${path}`
    return (children ?? []).length > 0
      ? deltas(children ?? [], whole)
      : [{ path: whole, before: before ?? undefined, after: after ?? undefined }]
  })
}

const envelope = ['id', 'name', 'type', 'apiVersion']

function flat(value: object | undefined, side: 'before' | 'after'): readonly Change[] {
  return Object.entries(value ?? {})
    .filter(([path]) => !envelope.includes(path))
    .map(([path, one]) => ({ path, [side]: one }))
}

/** With the words of this view. */
function readText(text: string): ReadJson {
  const { value, problem } = readJson(text)
  return { value, problem: problem === undefined ? problem : deploymentTexts.notJson(problem) }
}
