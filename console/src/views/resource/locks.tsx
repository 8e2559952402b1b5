/** The locks of a resource, its own and inherited ones. */

import { Button, Field, Input, makeStyles, Select, Text, tokens } from '@fluentui/react-components'
import { useState } from 'react'
import { type BodyOf, call, onlyNew } from '../../api/client.ts'
import { shortId } from '../../api/ids.ts'
import { type ItemOf, useList, useWrite } from '../../api/queries.ts'
import { Card } from '../../components/card.tsx'
import { EmptyText } from '../../components/empty-text.tsx'
import { FormDialog, problemAt, takenName } from '../../components/form-dialog.tsx'
import { Options } from '../../components/options.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { resourceTexts } from '../../texts/resources.ts'
import type { TabProps } from './resource.tsx'

type Lock = ItemOf<'listLocks'>
type Level = keyof typeof resourceTexts.lockLevels

const useStyles = makeStyles({
  list: { listStyle: 'none', margin: 0, padding: 0, display: 'grid', gap: tokens.spacingVerticalM },
  line: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalM, alignItems: 'center' },
})

export function Locks({ id }: TabProps) {
  const styles = useStyles()
  const [adding, setAdding] = useState(false)
  const found = useList('listLocks', { path: { scope: id } })
  const remove = useWrite((lock: Lock) =>
    call('deleteLock', { path: { scope: scopeOf(lock), lockName: lock.name } }),
  )
  if (found.error !== null && found.rows.length === 0) {
    return <Refusal failure={found.error} onRetry={found.reload} />
  }
  return (
    <Card title={resourceTexts.tabs.locks}>
      <EmptyText found={found} rows={found.rows} text={resourceTexts.noLocks} />
      <ul className={styles.list}>
        {found.rows.map((lock) => (
          <li key={lock.id} className={styles.line}>
            <strong>{lock.name}</strong>
            <Text>{levelText(lock.properties.level)}</Text>
            <Text>{lock.properties.notes}</Text>
            {scopeOf(lock).toLowerCase() !== id.toLowerCase() && (
              <Text>{resourceTexts.inherited(shortId(scopeOf(lock)))}</Text>
            )}
            <Button size="small" disabled={remove.isPending} onClick={() => remove.mutate(lock)}>
              {resourceTexts.deleteLock}
            </Button>
          </li>
        ))}
      </ul>
      {remove.error !== null && <Refusal failure={remove.error} />}
      <div>
        <Button onClick={() => setAdding(true)}>{resourceTexts.addLock}</Button>
      </div>
      {adding && <AddLock id={id} onClose={() => setAdding(false)} />}
    </Card>
  )
}

function levelText(level: string): string {
  return level in resourceTexts.lockLevels ? resourceTexts.lockLevels[level as Level] : level
}

function scopeOf({ id }: Lock): string {
  return id.slice(0, id.toLowerCase().lastIndexOf('/providers/'))
}

function AddLock({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const [name, setName] = useState('keep')
  const [level, setLevel] = useState<Level>('CanNotDelete')
  const [notes, setNotes] = useState('')
  const write = useWrite((body: BodyOf<'putLock'>) =>
    call('putLock', { path: { scope: id, lockName: name }, body, headers: onlyNew }),
  )
  return (
    <FormDialog
      title={resourceTexts.addLock}
      submit={resourceTexts.createLock}
      busy={write.isPending}
      ready={name !== ''}
      failure={write.error}
      onClose={onClose}
      onSubmit={() =>
        write.mutate(
          { properties: { level, ...(notes === '' ? {} : { notes }) } },
          { onSuccess: onClose },
        )
      }
    >
      <Field
        label={resourceTexts.lockName}
        required
        validationMessage={takenName(write.error) ?? problemAt(write.error, 'name')}
      >
        <Input value={name} onChange={(_, { value }) => setName(value)} />
      </Field>
      <Field label={resourceTexts.lockLevel} validationMessage={problemAt(write.error, 'level')}>
        <Select value={level} onChange={(_, { value }) => setLevel(value as Level)}>
          <Options of={resourceTexts.lockLevels} />
        </Select>
      </Field>
      <Field label={resourceTexts.lockNotes} validationMessage={problemAt(write.error, 'notes')}>
        <Input value={notes} onChange={(_, { value }) => setNotes(value)} />
      </Field>
    </FormDialog>
  )
}
