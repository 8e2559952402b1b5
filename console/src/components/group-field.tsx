/** Chooses a resource group, or makes the one that is missing without leaving the form. */

import { Button, Field, makeStyles, Select, tokens } from '@fluentui/react-components'
import { AddRegular } from '@fluentui/react-icons/svg/add'
import { lazy, Suspense, useState } from 'react'
import { useIsMissing } from '../api/queries.ts'
import { useGroups } from '../app/subscription.ts'
import { createGroupTexts, groupFieldTexts } from '../texts/resources.ts'
import { Refusal } from './refusal.tsx'

const CreateGroup = lazy(async () => ({
  default: (await import('../views/resources/create-group.tsx')).CreateGroup,
}))

const useStyles = makeStyles({
  row: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalS },
  select: { flexGrow: 1, flexBasis: '160px' },
})

interface GroupFieldProps {
  readonly group: string
  readonly onGroup: (group: string) => void
}

/** Whether the group of the address is there, as far as the person may see. */
export function useMissingGroup(group: string): boolean {
  const { subscriptionId } = useGroups()
  const path = { subscriptionId, resourceGroupName: group }
  return useIsMissing('getGroup', { path }, { enabled: group !== '' && subscriptionId !== '' })
}

export function GroupField({ group, onGroup }: GroupFieldProps) {
  const styles = useStyles()
  const { groups } = useGroups()
  const isMissing = useMissingGroup(group)
  const [creating, setCreating] = useState(false)
  const names = groups.rows.map(({ name }) => name)
  const isListed = names.some((name) => name.toLowerCase() === group.toLowerCase())
  const isEmpty = names.length === 0 && !groups.loading && groups.error === null
  return (
    <>
      <Field
        label={groupFieldTexts.group}
        required
        hint={isEmpty && group === '' ? groupFieldTexts.noGroups : undefined}
        validationMessage={isMissing ? groupFieldTexts.missing(group) : undefined}
      >
        {(field) => (
          <div className={styles.row}>
            <Select
              {...field}
              className={styles.select}
              value={names.find((name) => name.toLowerCase() === group.toLowerCase()) ?? group}
              onChange={(_, { value }) => onGroup(value)}
            >
              <option value="">{groupFieldTexts.choose}</option>
              {!isListed && group !== '' && <option>{group}</option>}
              {names.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </Select>
            <Button icon={<AddRegular />} onClick={() => setCreating(true)}>
              {isMissing ? groupFieldTexts.create(group) : createGroupTexts.button}
            </Button>
          </div>
        )}
      </Field>
      {groups.error !== null && <Refusal failure={groups.error} onRetry={groups.reload} />}
      <Suspense>
        {creating && (
          <CreateGroup
            begin={isMissing ? group : ''}
            onClose={() => setCreating(false)}
            onCreated={(name) => {
              setCreating(false)
              onGroup(name)
            }}
          />
        )}
      </Suspense>
    </>
  )
}
