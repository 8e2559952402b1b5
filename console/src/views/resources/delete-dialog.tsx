/** Deletes resources or groups after their name was typed. Stops at the first refusal, and says which one it was. */

import { Field, Input, Text } from '@fluentui/react-components'
import { useState } from 'react'
import { send } from '../../api/client.ts'
import { readId } from '../../api/ids.ts'
import { useWrite } from '../../api/queries.ts'
import { versionsOf } from '../../api/versions.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { resourcesTexts } from '../../texts/resources.ts'

export function DeleteDialog({
  ids,
  onClose,
}: {
  readonly ids: readonly string[]
  readonly onClose: (deleted: boolean) => void
}) {
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
      <Text>{resourcesTexts.deleteText}</Text>
      <ul>
        {ids.slice(0, 20).map((id) => (
          <li key={id}>{readId(id).name}</li>
        ))}
      </ul>
      <Field label={resourcesTexts.deleteType(first)}>
        <Input value={typed} onChange={(_, { value }) => setTyped(value)} autoComplete="off" />
      </Field>
    </FormDialog>
  )
}
