/**
 * Views that a person saved under a name: the list, its filters, its columns. This browser keeps them (decision
 * 191).
 */

import {
  Button,
  Field,
  Input,
  Menu,
  MenuDivider,
  MenuItem,
  MenuList,
  MenuPopover,
  MenuTrigger,
} from '@fluentui/react-components'
import { BookmarkRegular } from '@fluentui/react-icons/svg/bookmark'
import { useState } from 'react'
import { useSearch, useSetSearch } from '../../app/address.ts'
import { columnsOf, ownName, useOwnPreference, writePreference } from '../../app/preferences.ts'
import { useSubscriptions } from '../../app/subscription.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { savedViewsTexts } from '../../texts/resources.ts'

/** The parameters of the address that make a view; all are texts. */
const parts = ['view', 'where', 'q', 'group', 'type', 'tag'] as const

interface SavedView {
  readonly name: string
  readonly subscriptionId: string
  readonly search: Readonly<Record<string, string>>
  /** The hidden columns of its table. */
  readonly hidden: string
}

const viewsMax = 50

export function SavedViews({ table }: { readonly table: string }) {
  const [text, setText] = useOwnPreference('views.resources', '[]')
  const [hidden] = useOwnPreference(columnsOf(table), '')
  const { current, choose } = useSubscriptions()
  const search = useSearch()
  const setSearch = useSetSearch()
  const [saving, setSaving] = useState(false)
  const views = readViews(text)
  const here: Omit<SavedView, 'name'> = {
    subscriptionId: current?.subscriptionId ?? '',
    search: Object.fromEntries(
      parts.flatMap((part) => (search[part] === undefined ? [] : [[part, search[part]]])),
    ),
    hidden,
  }
  const shown = views.find((view) => isSame(view, here))
  const keep = (next: readonly SavedView[]): void => setText(JSON.stringify(next))
  const apply = (view: SavedView): void => {
    const list = view.search['view'] ?? 'resources'
    writePreference(ownName(columnsOf(list)), view.hidden)
    choose(view.subscriptionId)
    setSearch(Object.fromEntries(parts.map((part) => [part, view.search[part]])))
  }
  return (
    <>
      <Menu>
        <MenuTrigger disableButtonEnhancement>
          <Button icon={<BookmarkRegular />}>{shown?.name ?? savedViewsTexts.title}</Button>
        </MenuTrigger>
        <MenuPopover>
          <MenuList>
            {views.map((view) => (
              <MenuItem key={view.name} onClick={() => apply(view)}>
                <bdi>{view.name}</bdi>
              </MenuItem>
            ))}
            {views.length > 0 && <MenuDivider />}
            <MenuItem disabled={views.length >= viewsMax} onClick={() => setSaving(true)}>
              {savedViewsTexts.save}
            </MenuItem>
            {shown !== undefined && (
              <MenuItem onClick={() => keep(views.filter((view) => view !== shown))}>
                {savedViewsTexts.remove(shown.name)}
              </MenuItem>
            )}
          </MenuList>
        </MenuPopover>
      </Menu>
      {saving && (
        <SaveDialog
          names={views.map(({ name }) => name)}
          onClose={() => setSaving(false)}
          onSave={(name) => {
            keep([...views.filter((view) => view.name !== name), { name, ...here }])
            setSaving(false)
          }}
        />
      )}
    </>
  )
}

function SaveDialog({
  names,
  onSave,
  onClose,
}: {
  readonly names: readonly string[]
  readonly onSave: (name: string) => void
  readonly onClose: () => void
}) {
  const [name, setName] = useState('')
  return (
    <FormDialog
      title={savedViewsTexts.save}
      submit={savedViewsTexts.submit}
      busy={false}
      ready={name.trim() !== ''}
      failure={null}
      onSubmit={() => onSave(name.trim())}
      onClose={onClose}
    >
      <Field
        label={savedViewsTexts.name}
        required
        hint={names.includes(name.trim()) ? savedViewsTexts.replaces : savedViewsTexts.hint}
      >
        <Input value={name} maxLength={60} onChange={(_, { value }) => setName(value)} />
      </Field>
    </FormDialog>
  )
}

/** The storage of a browser may contain anything: what is no view is left out. */
function readViews(text: string): readonly SavedView[] {
  try {
    const parsed: unknown = JSON.parse(text)
    return Array.isArray(parsed) ? parsed.filter(isView) : []
  } catch {
    return []
  }
}

function isView(given: unknown): given is SavedView {
  const { name, subscriptionId, search, hidden } = Object(given) as Record<string, unknown>
  const texts = [name, subscriptionId, hidden, ...Object.values(Object(search))]
  return texts.every((one) => typeof one === 'string')
}

function isSame(view: SavedView, here: Omit<SavedView, 'name'>): boolean {
  return (
    view.subscriptionId === here.subscriptionId &&
    view.hidden === here.hidden &&
    parts.every((part) => (view.search[part] ?? '') === (here.search[part] ?? ''))
  )
}
