/** Search over resources and areas by the keyboard (`Ctrl K`). */

import {
  Dialog,
  DialogBody,
  DialogContent,
  DialogSurface,
  DialogTitle,
  Input,
  makeStyles,
  Text,
  tokens,
} from '@fluentui/react-components'
import { SearchRegular } from '@fluentui/react-icons/svg/search'
import { useState } from 'react'
import { readId } from '../api/ids.ts'
import { type Envelope, useList } from '../api/queries.ts'
import { resourcePath, useAppHref, useGo } from '../components/app-link.tsx'
import { useReturnFocus } from '../components/return-focus.ts'
import { appTexts } from '../texts/app.ts'
import { areas } from './areas.ts'
import { useSubscriptions } from './subscription.ts'

const useStyles = makeStyles({
  content: { display: 'grid', gap: tokens.spacingVerticalM },
  list: { listStyle: 'none', margin: 0, padding: 0 },
  hit: {
    display: 'block',
    padding: tokens.spacingVerticalS,
    borderRadius: tokens.borderRadiusMedium,
    color: tokens.colorNeutralForeground1,
    textDecorationLine: 'none',
    overflowWrap: 'anywhere',
    ':hover': { backgroundColor: tokens.colorNeutralBackground1Hover },
    ':focus-visible': { outline: `2px solid ${tokens.colorStrokeFocus2}` },
  },
  soft: { color: tokens.colorNeutralForeground2 },
})

const shownMax = 12

interface Hit {
  readonly to: string
  readonly title: string
  readonly lead: string
}

export function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  const styles = useStyles()
  const go = useGo()
  useReturnFocus()
  const [text, setText] = useState('')
  const { current } = useSubscriptions()
  const path = { subscriptionId: current?.subscriptionId ?? '' }
  const enabled = current !== undefined
  const resources = useList<'listResources', Envelope>('listResources', { path }, { enabled })
  const groups = useList('listGroups', { path }, { enabled })
  const hits = hitsOf(text, [...groups.rows, ...resources.rows])
  return (
    <Dialog open onOpenChange={(_, { open }) => open || onClose()}>
      <DialogSurface>
        <DialogBody>
          <DialogTitle>{appTexts.search}</DialogTitle>
          <DialogContent className={styles.content}>
            <Input
              autoFocus
              contentBefore={<SearchRegular />}
              aria-label={appTexts.searchFor}
              placeholder={appTexts.searchFor}
              value={text}
              onChange={(_, { value }) => setText(value)}
              onKeyDown={(event) => {
                const [first] = hits
                if (event.key !== 'Enter' || first === undefined) return
                go(first.to)
                onClose()
              }}
            />
            <ul className={styles.list}>
              {hits.map((hit) => (
                <li key={hit.to}>
                  <HitLink hit={hit} onClose={onClose} />
                </li>
              ))}
            </ul>
            {text !== '' && hits.length === 0 && <Text>{appTexts.searchNothing}</Text>}
            {resources.more && <Text className={styles.soft}>{appTexts.searchMore}</Text>}
          </DialogContent>
        </DialogBody>
      </DialogSurface>
    </Dialog>
  )
}

function HitLink({ hit, onClose }: { readonly hit: Hit; readonly onClose: () => void }) {
  const styles = useStyles()
  const { href, onClick } = useAppHref(hit.to)
  return (
    <a
      href={href}
      className={styles.hit}
      onClick={(event) => {
        onClick(event)
        onClose()
      }}
    >
      <bdi>{hit.title}</bdi> <span className={styles.soft}>{hit.lead}</span>
    </a>
  )
}

function hitsOf(text: string, found: readonly Envelope[]): readonly Hit[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const hasAll = (where: string): boolean =>
    words.every((word) => where.toLowerCase().includes(word))
  const places = areas
    .filter(({ title }) => hasAll(title))
    .map(({ path, title }) => ({ to: path, title, lead: '' }))
  if (words.length === 0) return places
  const resources = found
    .filter((one) => hasAll(`${one.id} ${one.type}`))
    .map((one) => ({
      to: resourcePath(one.id),
      title: one.name,
      lead: [one.type, readId(one.id).group].filter((part) => part !== undefined).join(' · '),
    }))
  return [...places, ...resources].slice(0, shownMax)
}
