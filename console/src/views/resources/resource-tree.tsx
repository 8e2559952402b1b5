/**
 * Resources as a tree: subscription, group, resource, and what is nested in it. A level is read when it is opened, page
 * by page as one scrolls, and only rows in sight are drawn. The tree has the focus; arrow keys move in it.
 */

import { makeStyles, mergeClasses, Text, tokens } from '@fluentui/react-components'
import { ChevronDownRegular } from '@fluentui/react-icons/svg/chevron-down'
import { ChevronRightRegular } from '@fluentui/react-icons/svg/chevron-right'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, useCallback, useEffect, useId, useMemo, useRef, useState } from 'react'
import { ApiFailure } from '../../api/client.ts'
import { useSubscriptions } from '../../app/subscription.ts'
import { AppLink, resourcePath, useGo } from '../../components/app-link.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { State } from '../../components/state.tsx'
import { appTexts } from '../../texts/app.ts'
import { treeTexts } from '../../texts/resources.ts'
import { LevelOf, nestedMax } from './tree-levels.tsx'
import {
  findByTitle,
  type Level,
  type Move,
  moveFrom,
  type NodeRow,
  type NoteRow,
  TreeRows,
} from './tree-rows.ts'

const rowHeight = 36
/** The next page is read this many rows before the end. */
const readAhead = 60

const useStyles = makeStyles({
  tree: {
    overflow: 'auto',
    flexGrow: 1,
    flexBasis: '240px',
    minHeight: '200px',
    outlineOffset: '-2px',
    // The row has the outline of the focus while it is in sight.
    '&:focus-visible:has([data-active=true])': { outlineStyle: 'none' },
    '&:focus-visible [data-active=true]': {
      outline: `2px solid ${tokens.colorStrokeFocus2}`,
      outlineOffset: '-2px',
    },
  },
  body: { position: 'relative' },
  row: {
    position: 'absolute',
    left: 0,
    right: 0,
    minHeight: `${rowHeight}px`,
    display: 'flex',
    gap: tokens.spacingHorizontalXS,
    alignItems: 'center',
    boxSizing: 'border-box',
    paddingRight: tokens.spacingHorizontalS,
    borderRadius: tokens.borderRadiusMedium,
  },
  canOpen: {
    cursor: 'pointer',
    ':hover': { backgroundColor: tokens.colorNeutralBackground1Hover },
  },
  chevron: { width: '24px', height: '24px', display: 'grid', placeItems: 'center', flexShrink: 0 },
  // A long name is cut instead of reaching over the edge.
  name: {
    minWidth: 0,
    flexGrow: 1,
    overflow: 'hidden',
    textOverflow: 'ellipsis',
    whiteSpace: 'nowrap',
    // Large enough to be hit by a finger.
    '& a': { display: 'inline-block', lineHeight: tokens.lineHeightBase500, minWidth: '24px' },
    '& > *': { verticalAlign: 'middle' },
  },
  note: { minWidth: 0 },
  type: {
    color: tokens.colorNeutralForeground2,
    paddingLeft: tokens.spacingHorizontalS,
    '@media (max-width: 700px)': { display: 'none' },
  },
})

export function ResourceTree() {
  const { all, current } = useSubscriptions()
  const roots = useMemo(
    () =>
      all.map(({ subscriptionId, displayName, state }) => ({
        id: `/subscriptions/${subscriptionId}`,
        title: displayName,
        state,
        mayHold: true,
      })),
    [all],
  )
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set())
  const [levels, setLevels] = useState<ReadonlyMap<string, Level>>(new Map())
  const onLevel = useCallback((id: string, level: Level | undefined) => {
    setLevels((before) => {
      const after = new Map(before)
      if (level === undefined) after.delete(id)
      else after.set(id, level)
      return after
    })
  }, [])
  // The current subscription is open at the beginning.
  const open = useMemo(
    () =>
      current === undefined ? toggled : toggle(toggled, `/subscriptions/${current.subscriptionId}`),
    [toggled, current],
  )
  const rows = useMemo(() => new TreeRows(roots, open, levels), [roots, open, levels])
  const [wanting, setWanting] = useState('')
  return (
    <>
      {[...open].map((id) => (
        <LevelOf key={id} id={id} wantsMore={wanting.split(' ').includes(id)} onLevel={onLevel} />
      ))}
      <VirtualTree
        rows={rows}
        onToggle={(id) => setToggled(toggle(toggled, id))}
        onWant={setWanting}
      />
    </>
  )
}

function toggle(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const after = new Set(ids)
  if (!after.delete(id)) after.add(id)
  return after
}

const moves: Readonly<Record<string, Move>> = {
  ArrowDown: 'next',
  ArrowUp: 'previous',
  Home: 'first',
  End: 'last',
}

function VirtualTree({
  rows,
  onToggle,
  onWant,
}: {
  readonly rows: TreeRows
  readonly onToggle: (id: string) => void
  /** The nodes of which more should be read, separated by spaces. */
  readonly onWant: (ids: string) => void
}) {
  const styles = useStyles()
  const go = useGo()
  const ids = useId()
  const scroll = useRef<HTMLDivElement>(null)
  const [activeKey, setActiveKey] = useState<string>()
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowHeight,
    // Nodes are all of one height. Another function would have all rows measured anew.
    getItemKey: useCallback((index: number) => rows.notes.get(index) ?? index, [rows]),
    overscan: 10,
  })
  const items = virtual.getVirtualItems()
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0]
  const wanted = rows.wantedIn(first, last + readAhead).join(' ')
  useEffect(() => onWant(wanted), [wanted, onWant])
  const active = useMemo(() => rows.indexOf(activeKey), [rows, activeKey])
  const moveTo = (index: number): void => {
    setActiveKey(rows.at(index)?.key)
    virtual.scrollToIndex(index)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows.at(active)
    // Links and buttons in a row have keys of their own.
    if (event.target !== event.currentTarget || event.ctrlKey || event.altKey || event.metaKey)
      return
    const node = row !== undefined && 'node' in row ? row.node : undefined
    const isOpen = row !== undefined && 'node' in row && row.isOpen
    const move = moves[event.key]
    if (move !== undefined) moveTo(moveFrom(rows, active, move))
    else if (event.key === 'ArrowRight' && node?.mayHold === true) {
      if (isOpen) moveTo(active + 1)
      else onToggle(node.id)
    } else if (event.key === 'ArrowLeft') {
      if (isOpen && node !== undefined) onToggle(node.id)
      else moveTo(moveFrom(rows, active, 'parent'))
    } else if (event.key === 'Enter' && node !== undefined) go(resourcePath(node.id))
    else if (event.key === ' ' && node?.mayHold === true) onToggle(node.id)
    else if (/^\S$/.test(event.key)) moveTo(findByTitle(rows, active, event.key))
    else return
    event.preventDefault()
  }
  return (
    <div
      ref={scroll}
      className={styles.tree}
      role="tree"
      aria-label={treeTexts.label}
      tabIndex={0}
      aria-activedescendant={active < 0 ? undefined : `${ids}${active}`}
      onFocus={(event) => {
        if (event.target === event.currentTarget && active < 0) setActiveKey(rows.at(first)?.key)
      }}
      onKeyDown={onKeyDown}
      onClick={({ target }) => {
        if (!(target instanceof Element) || target.closest('a, button') !== null) return
        const at = target.closest('[data-index]')?.getAttribute('data-index')
        const row = rows.at(Number(at ?? -1))
        if (row === undefined) return
        setActiveKey(row.key)
        if ('node' in row && row.node.mayHold) onToggle(row.node.id)
      }}
    >
      <div role="none" className={styles.body} style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = rows.at(index)
          if (row === undefined) return null
          const node = 'node' in row ? row.node : undefined
          return (
            <div
              key={row.key}
              ref={virtual.measureElement}
              data-index={index}
              id={`${ids}${index}`}
              role="treeitem"
              data-active={index === active}
              className={mergeClasses(styles.row, node?.mayHold === true && styles.canOpen)}
              style={{
                transform: `translateY(${start}px)`,
                paddingLeft: `${(row.depth - 1) * 20}px`,
              }}
              aria-level={row.depth}
              {...('node' in row && {
                'aria-posinset': row.position,
                'aria-setsize': row.count,
                'aria-expanded': row.node.mayHold ? row.isOpen : undefined,
              })}
            >
              {'node' in row ? <Node row={row} /> : <Note {...row} />}
            </div>
          )
        })}
      </div>
    </div>
  )
}

function Node({ row: { node, isOpen } }: { readonly row: NodeRow }) {
  const styles = useStyles()
  const { id, title, type, state, mayHold } = node
  return (
    <>
      <span className={styles.chevron} aria-hidden>
        {mayHold && (isOpen ? <ChevronDownRegular /> : <ChevronRightRegular />)}
      </span>
      <span className={styles.name}>
        <AppLink to={resourcePath(id)} title={title} tabIndex={-1}>
          <bdi>{title}</bdi>
        </AppLink>
        <Text size={200} className={styles.type}>
          {type}
        </Text>
      </span>
      <State value={state} />
    </>
  )
}

function Note({ note }: NoteRow) {
  const styles = useStyles()
  return (
    <>
      <span className={styles.chevron} aria-hidden />
      <span className={styles.note}>
        {note === 'loading' || note === 'more' ? (
          appTexts.loading
        ) : note === 'cut' ? (
          treeTexts.perhapsMore(nestedMax)
        ) : note === 'nothing' ? (
          treeTexts.nothing
        ) : note instanceof ApiFailure ? (
          <Refusal failure={note} />
        ) : (
          note.message
        )}
      </span>
    </>
  )
}
