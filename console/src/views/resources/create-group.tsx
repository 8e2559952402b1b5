/** Creates a resource group, and opens it or gives its name to the form that needs it. */

import { Field, Input, Select, Text, Textarea } from '@fluentui/react-components'
import { useState } from 'react'
import { type BodyOf, call, onlyNew } from '../../api/client.ts'
import { groupId } from '../../api/ids.ts'
import { useCall, useWrite } from '../../api/queries.ts'
import { useSubscriptions } from '../../app/subscription.ts'
import { resourcePath, useGo } from '../../components/app-link.tsx'
import { FormDialog, problemAt, takenName } from '../../components/form-dialog.tsx'
import { createGroupTexts } from '../../texts/resources.ts'

interface Location {
  readonly name: string
  readonly displayName: string
}

interface CreateGroupProps {
  /** The name to begin with. */
  readonly begin?: string
  readonly onClose: () => void
  /** Instead of opening the group. */
  readonly onCreated?: (name: string) => void
}

export function CreateGroup({ begin = '', onClose, onCreated }: CreateGroupProps) {
  const go = useGo()
  const { current } = useSubscriptions()
  const subscriptionId = current?.subscriptionId ?? ''
  const locations = useCall(
    'listLocations',
    { path: { subscriptionId } },
    { enabled: current !== undefined },
  )
  const [name, setName] = useState(begin)
  const [location, setLocation] = useState('local')
  const [tags, setTags] = useState('')
  const write = useWrite((body: BodyOf<'putGroup'>) =>
    call('putGroup', { path: { subscriptionId, resourceGroupName: name }, body, headers: onlyNew }),
  )
  const places =
    (locations.data as { readonly value: readonly Location[] } | undefined)?.value ?? []
  return (
    <FormDialog
      title={createGroupTexts.title}
      submit={createGroupTexts.create}
      busy={write.isPending}
      ready={name !== '' && current !== undefined}
      failure={write.error}
      onClose={onClose}
      onSubmit={() =>
        write.mutate(
          { location, tags: tagsIn(tags) },
          {
            onSuccess: () =>
              onCreated === undefined
                ? go(resourcePath(groupId(subscriptionId, name)), { replace: true })
                : onCreated(name),
          },
        )
      }
    >
      <Text>{createGroupTexts.lead}</Text>
      <Field
        label={createGroupTexts.name}
        required
        hint={createGroupTexts.nameHint}
        validationMessage={takenName(write.error) ?? problemAt(write.error, 'name')}
      >
        <Input value={name} onChange={(_, { value }) => setName(value)} autoComplete="off" />
      </Field>
      <Field
        label={createGroupTexts.location}
        required
        validationMessage={problemAt(write.error, 'location')}
      >
        <Select value={location} onChange={(_, { value }) => setLocation(value)}>
          {places.length === 0 && <option value="local">{createGroupTexts.local}</option>}
          {places.map((one) => (
            <option key={one.name} value={one.name}>
              {one.displayName}
            </option>
          ))}
        </Select>
      </Field>
      <Field
        label={createGroupTexts.tags}
        hint={createGroupTexts.tagsHint}
        validationMessage={problemAt(write.error, 'tags')}
      >
        <Textarea value={tags} onChange={(_, { value }) => setTags(value)} />
      </Field>
    </FormDialog>
  )
}

export function tagsIn(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .map((line) => {
        const at = line.indexOf('=')
        return at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
      }),
  )
}
