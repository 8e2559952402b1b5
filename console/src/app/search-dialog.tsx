/** Search over resources and areas by the keyboard (`Ctrl K`). */

import {
  Dialog,
  DialogBody,
  DialogContent,
  DialogSurface,
  DialogTitle,
  Input,
  makeStyles,
  tokens,
} from '@fluentui/react-components'
import { SearchRegular } from '@fluentui/react-icons/svg/search'
import { useEffect, useState } from 'react'
import { readId, shortId } from '../api/ids.ts'
import type { Envelope } from '../api/queries.ts'
import { resourcePath, useAppHref, useGo } from '../components/app-link.tsx'
import { Refusal } from '../components/refusal.tsx'
import { useReturnFocus } from '../components/return-focus.ts'
import { accountTexts, appTexts } from '../texts/app.ts'
import { createGroupTexts } from '../texts/resources.ts'
import { deploymentTexts } from '../texts/work.ts'
import { writeTexts } from '../texts/write.ts'
import { type Area, useAreas } from './areas.ts'
import { useRights } from './rights.ts'
import { type FoundPerson, useFound, useFoundPeople } from './search.ts'
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

/** What was typed is looked for after this many milliseconds without another key. */
const settleAfter = 200

/** What one may want to do, wherever one is. */
const commands = [
  { path: '/resources?create=group', title: createGroupTexts.button },
  { path: '/create', title: writeTexts.create },
  { path: '/deployments/new', title: deploymentTexts.new },
  { path: '/account', title: accountTexts.title },
] as const

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
  const { all } = useSubscriptions()
  const { shown: areas } = useAreas()
  const rights = useRights()
  const settled = useSettled(text.trim())
  const words = wordsOf(settled)
  const { data, error, isFetching } = useFound(
    words,
    all.map(({ subscriptionId }) => subscriptionId),
  )
  const people = useFoundPeople(words, rights.mayEverywhere('people'))
  const isCurrent = settled === text.trim() && !isFetching && !people.isFetching
  const found = words.length === 0 ? [] : (data?.hits ?? [])
  const hits = [
    ...placesOf(text, areas),
    ...found.map(hitOf),
    ...(words.length === 0 ? [] : (people.data ?? [])).map(hitOfPerson),
  ]
  const failure = error ?? people.error
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
            <div role="status" className={styles.soft}>
              {isCurrent
                ? text.trim() !== '' &&
                  hits.length === 0 &&
                  failure === null &&
                  appTexts.searchNothing
                : appTexts.searching}
              {isCurrent && data?.more === true && appTexts.searchMore}
            </div>
            {failure !== null && isCurrent && <Refusal failure={failure} />}
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

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), settleAfter)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

/** Areas and commands, and what an id that was pasted names. */
function placesOf(text: string, areas: readonly Area[]): readonly Hit[] {
  const words = wordsOf(text)
  const places = [...areas, ...commands]
    .filter(({ title }) => words.every((word) => title.toLowerCase().includes(word.toLowerCase())))
    .map(({ path, title }) => ({ to: path, title, lead: '' }))
  const id = text.trim()
  const pasted = /^\/subscriptions\/[^/\s]+/i.test(id)
    ? [{ to: resourcePath(id), title: shortId(id), lead: readId(id).type ?? '' }]
    : []
  return [...pasted, ...places]
}

function hitOf({ id, name, type }: Envelope): Hit {
  const lead = [type, readId(id).group].filter((word) => word !== undefined).join(' · ')
  return { to: resourcePath(id), title: name, lead }
}

function hitOfPerson({ id, displayName, kind }: FoundPerson): Hit {
  return {
    to: `/access?view=people&kind=${kind}&who=${encodeURIComponent(id)}`,
    title: displayName,
    lead: appTexts.kinds[kind],
  }
}
