/** Creates a resource of any type in a group, by the fields of its schema. */

import { Button, Field, Input, makeStyles, Select, Text, tokens } from '@fluentui/react-components'
import { useState } from 'react'
import { onlyNew, send } from '../../api/client.ts'
import { groupId } from '../../api/ids.ts'
import { useCall, useWrite } from '../../api/queries.ts'
import { useVersions } from '../../api/versions.ts'
import { useSearch, useSetSearch } from '../../app/address.ts'
import { useGroups } from '../../app/subscription.ts'
import { resourcePath, useGo } from '../../components/app-link.tsx'
import { takenName } from '../../components/form-dialog.tsx'
import { GroupField, useMissingGroup } from '../../components/group-field.tsx'
import { Loading, Page } from '../../components/page.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { beginOf, type Schema } from '../../components/schema.ts'
import { writeTexts } from '../../texts/write.ts'
import { useBody } from './body.ts'
import { BodyForm, type Draft } from './body-form.tsx'

const useStyles = makeStyles({
  form: { display: 'grid', gridTemplateColumns: 'minmax(0, 1fr)', gap: tokens.spacingVerticalL },
  bar: { display: 'flex', gap: tokens.spacingHorizontalM, flexWrap: 'wrap', alignItems: 'end' },
})

interface Provider {
  readonly namespace: string
  readonly resourceTypes: readonly {
    readonly resourceType: string
    readonly apiVersions: readonly string[]
  }[]
}

/** Types that belong in a group, from their providers. */
function useTypes(subscriptionId: string): readonly string[] {
  const found = useCall(
    'listProviders',
    { path: { subscriptionId } },
    { enabled: subscriptionId !== '' },
  )
  const providers = (found.data as { readonly value: readonly Provider[] } | undefined)?.value ?? []
  return providers.flatMap(({ namespace, resourceTypes }) =>
    resourceTypes
      .filter(
        ({ resourceType, apiVersions }) => /^[a-z]/.test(resourceType) && apiVersions.length > 0,
      )
      .map(({ resourceType }) => `${namespace}/${resourceType}`),
  )
}

export function CreateResource() {
  const styles = useStyles()
  const { group = '', type = '' } = useSearch()
  const setSearch = useSetSearch()
  const { subscriptionId } = useGroups()
  const isMissing = useMissingGroup(group)
  const types = useTypes(subscriptionId)
  return (
    <Page title={writeTexts.create} lead={writeTexts.createLead}>
      <div className={styles.bar}>
        <GroupField
          group={group}
          onGroup={(value) => setSearch({ group: value }, { replace: true })}
        />
        <Field label={writeTexts.type} required>
          <Select
            value={type}
            onChange={(_, { value }) => setSearch({ type: value }, { replace: true })}
          >
            <option value="">{writeTexts.anyType}</option>
            {types.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </Select>
        </Field>
      </div>
      {subscriptionId !== '' && group !== '' && !isMissing && type !== '' && (
        <OfType key={`${group} ${type}`} scope={groupId(subscriptionId, group)} type={type} />
      )}
    </Page>
  )
}

function OfType({ scope, type }: { readonly scope: string; readonly type: string }) {
  const [version = ''] = useVersions(`${scope}/providers/${placeholder(type)}`)
  const body = useBody(type, version)
  if (body.error !== null) return <Refusal failure={body.error} />
  if (body.data === undefined) return <Loading />
  if (body.data.schema === undefined) return <Text>{writeTexts.cannotWrite}</Text>
  return <Form scope={scope} type={type} version={version} schema={body.data.schema} />
}

/** An id of the type that belongs to no resource. */
function placeholder(type: string): string {
  const [namespace, ...words] = type.split('/')
  return [namespace, ...words.flatMap((word) => [word, '-'])].join('/')
}

interface FormProps {
  readonly scope: string
  readonly type: string
  readonly version: string
  readonly schema: Schema
}

function Form({ scope, type, version, schema }: FormProps) {
  const styles = useStyles()
  const go = useGo()
  const [namespace, ...words] = type.split('/')
  const [names, setNames] = useState<readonly string[]>(() => words.map(() => ''))
  const [draft, setDraft] = useState<Draft>(() => ({
    value: {
      ...Object(schema.properties?.['location'] && { location: 'local' }),
      ...Object(beginOf(schema)),
    },
    problem: undefined,
  }))
  const id = `${scope}/providers/${[namespace, ...words.flatMap((word, at) => [word, encodeURIComponent(names[at] ?? '')])].join('/')}`
  const write = useWrite(() =>
    send('PUT', id, { query: { 'api-version': version }, body: draft.value, headers: onlyNew }),
  )
  const taken = takenName(write.error)
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        write.mutate(undefined, { onSuccess: () => go(resourcePath(id)) })
      }}
    >
      <div className={styles.bar}>
        {words.map((word, at) => (
          <Field
            key={word}
            label={words.length === 1 ? writeTexts.name : writeTexts.names(word)}
            required
            validationMessage={at === words.length - 1 ? taken : undefined}
          >
            <Input
              autoComplete="off"
              value={names[at] ?? ''}
              onChange={(_, { value }) => setNames(names.with(at, value))}
            />
          </Field>
        ))}
        <Button
          appearance="primary"
          type="submit"
          disabled={write.isPending || names.includes('') || draft.problem !== undefined}
        >
          {writeTexts.createNow}
        </Button>
        <Text size={200}>
          {writeTexts.version} {version}
        </Text>
      </div>
      {write.error !== null && taken === undefined && <Refusal failure={write.error} />}
      <BodyForm schema={schema} draft={draft} failure={write.error} onChange={setDraft} />
    </form>
  )
}
