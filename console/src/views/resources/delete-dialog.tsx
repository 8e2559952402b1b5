/** Deletes resources or groups after their name was typed. Stops at the first refusal and names the resource. */

import { Field, Input, makeStyles, Text, tokens } from '@fluentui/react-components'
import { useState } from 'react'
import { send } from '../../api/client.ts'
import { readId } from '../../api/ids.ts'
import { plainType } from '../../api/place.ts'
import { type Envelope, useList, useWrite } from '../../api/queries.ts'
import { versionsOf } from '../../api/versions.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { resourcesTexts } from '../../texts/resources.ts'
import { nestedMax, useNested } from './tree-levels.tsx'

const useStyles = makeStyles({
  list: { margin: 0, paddingLeft: tokens.spacingHorizontalL, overflowWrap: 'anywhere' },
})

export function DeleteDialog({
  ids,
  onClose,
}: {
  readonly ids: readonly string[]
  readonly onClose: (deleted: boolean) => void
}) {
  const styles = useStyles()
  const [typed, setTyped] = useState('')
  const first = readId(ids[0] ?? '').name
  const write = useWrite(async () => {
    for (const id of ids) {
      const [version] = await versionsOf(id)
      await send('DELETE', id, { query: { 'api-version': version } })
    }
  })
  return (
    <FormDialog
      title={resourcesTexts.deleteTitle(ids.length)}
      submit={resourcesTexts.deleteNow}
      busy={write.isPending}
      ready={typed === first}
      failure={write.error}
      onClose={() => onClose(false)}
      onSubmit={() => write.mutate(undefined, { onSuccess: () => onClose(true) })}
    >
      <Text>
        {resourcesTexts.deleteText}
        {ids.some(isGroup) && ` ${resourcesTexts.deleteGroupText}`}
      </Text>
      <ul className={styles.list}>
        {ids.slice(0, 20).map((id) => (
          <li key={id}>
            <bdi>{readId(id).name}</bdi>
            {isGroup(id) ? <Content id={id} /> : ids.length === 1 && <Nested id={id} />}
          </li>
        ))}
      </ul>
      <Field label={resourcesTexts.deleteType(first)}>
        <Input value={typed} onChange={(_, { value }) => setTyped(value)} autoComplete="off" />
      </Field>
    </FormDialog>
  )
}

function isGroup(id: string): boolean {
  return readId(id).type === undefined
}

const shownMax = 10

/** The resources that are deleted with a group. */
function Content({ id }: { readonly id: string }) {
  const { subscriptionId = '', group = '' } = readId(id)
  const path = { subscriptionId, resourceGroupName: group }
  const { rows, more, error } = useList('listGroupResources', { path })
  if (error !== null) return <Refusal failure={error} quiet />
  return <GoesToo rows={rows} more={more} />
}

/** The same for a single resource. */
function Nested({ id }: { readonly id: string }) {
  const { data = [], error } = useNested(id)
  if (error !== null) return <Refusal failure={error} quiet />
  return <GoesToo rows={data} more={data.length >= nestedMax} />
}

function GoesToo({ rows, more }: { readonly rows: readonly Envelope[]; readonly more: boolean }) {
  const styles = useStyles()
  if (rows.length === 0) return null
  const rest = rows.length - shownMax
  return (
    <>
      {' '}
      <Text>{resourcesTexts.goesToo}</Text>
      <ul className={styles.list}>
        {rows.slice(0, shownMax).map((one) => (
          <li key={one.id}>
            <bdi>{one.name}</bdi> ({plainType(one.type)})
          </li>
        ))}
        {rest > 0 && (
          <li>{more ? resourcesTexts.andMoreAtLeast(rest) : resourcesTexts.andMore(rest)}</li>
        )}
      </ul>
    </>
  )
}
