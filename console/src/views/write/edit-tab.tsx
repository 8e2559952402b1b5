/** Edits a resource by the fields of its schema, in the shown version. Changes of others are not overwritten. */

import { Button, makeStyles, Text, tokens } from '@fluentui/react-components'
import { useState } from 'react'
import { send } from '../../api/client.ts'
import { readId } from '../../api/ids.ts'
import { useWrite } from '../../api/queries.ts'
import { Loading } from '../../components/page.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { type Schema, writable } from '../../components/schema.ts'
import { writeTexts } from '../../texts/write.ts'
import type { TabProps } from '../resource/resource.tsx'
import { useBody } from './body.ts'
import { BodyForm, type Draft } from './body-form.tsx'

const useStyles = makeStyles({
  form: { display: 'grid', gridTemplateColumns: 'minmax(0, 1fr)', gap: tokens.spacingVerticalL },
  bar: { display: 'flex', gap: tokens.spacingHorizontalM, flexWrap: 'wrap', alignItems: 'center' },
})

export function EditTab({ id, resource, version }: TabProps) {
  const body = useBody(readId(id).type ?? '', version)
  if (body.error !== null) return <Refusal failure={body.error} />
  if (body.data === undefined) return <Loading />
  const { schema } = body.data
  if (schema === undefined) return <Text>{writeTexts.cannotWrite}</Text>
  return <Form key={version} id={id} resource={resource} version={version} schema={schema} />
}

interface Tagged {
  readonly etag?: string
}

function Form({ id, resource, version, schema }: TabProps & { readonly schema: Schema }) {
  const styles = useStyles()
  const [begun] = useState(resource)
  const [draft, setDraft] = useState<Draft>(() => ({
    value: writable(schema, begun),
    problem: undefined,
  }))
  // Changes that others made since the last read or save are not overwritten.
  const [etag, setEtag] = useState((begun as Tagged).etag)
  const write = useWrite(() =>
    send<Tagged>('PUT', id, {
      query: { 'api-version': version },
      body: draft.value,
      ...(etag === undefined ? {} : { headers: { 'if-match': etag } }),
    }),
  )
  const hasSecrets = JSON.stringify(schema).includes('"writeOnly":true')
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        write.mutate(undefined, { onSuccess: (saved) => setEtag(saved.body.etag ?? saved.etag) })
      }}
    >
      <div className={styles.bar}>
        <Button
          appearance="primary"
          type="submit"
          disabled={write.isPending || draft.problem !== undefined}
        >
          {writeTexts.save}
        </Button>
        {write.isSuccess && <Text role="status">{writeTexts.saved}</Text>}
        {hasSecrets && <Text size={200}>{writeTexts.secrets}</Text>}
      </div>
      {write.error !== null && <Refusal failure={write.error} />}
      <BodyForm schema={schema} draft={draft} failure={write.error} onChange={setDraft} />
    </form>
  )
}
