/**
 * A table of rows. Only visible rows are drawn, so a list of any length scrolls. The next page is read near the
 * end. Cells hold links, so everything can be reached by keyboard. Columns can be hidden, and rows saved as CSV.
 */

import {
  Button,
  Menu,
  MenuItemCheckbox,
  MenuList,
  MenuPopover,
  MenuTrigger,
  makeStyles,
  mergeClasses,
  Spinner,
  Text,
  tokens,
} from '@fluentui/react-components'
import { ArrowDownRegular } from '@fluentui/react-icons/svg/arrow-down'
import { ArrowDownloadRegular } from '@fluentui/react-icons/svg/arrow-download'
import { ArrowUpRegular } from '@fluentui/react-icons/svg/arrow-up'
import { ColumnTripleEditRegular } from '@fluentui/react-icons/svg/column-triple-edit'
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  memo,
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
} from 'react'
import { changedJustNow } from '../api/live.ts'
import type { Rows } from '../api/queries.ts'
import { columnsOf, useOwnPreference } from '../app/preferences.ts'
import { appTexts, tableTexts } from '../texts/app.ts'
import { Refusal } from './refusal.tsx'
import { saveFile } from './save-file.ts'
import { type Sorted, sortStep } from './sorted-rows.ts'

export interface Column<T> {
  readonly id: string
  readonly title: string
  /** The text that is sorted by and written to the CSV. */
  readonly text: (row: T) => string
  /** What is shown; the text if left out. */
  readonly show?: (row: T) => ReactNode
  /** The share of the available width. */
  readonly grow?: number
  /** Hidden in a narrow window. */
  readonly wideOnly?: boolean
  readonly numeric?: boolean
  /** The field by which the server sorts. Without one, the rows that were read are sorted here. */
  readonly field?: string
}

interface Sort {
  readonly id: string
  readonly down: boolean
}

const rowHeight = 44
/** The next page is read this many rows before the end. */
const readAhead = 60
/** Below this window width only the main columns are shown. */
const narrow = '@media (max-width: 700px)'

const useStyles = makeStyles({
  frame: { display: 'flex', flexDirection: 'column', minHeight: '200px', minWidth: 0, flexGrow: 1 },
  bar: {
    display: 'flex',
    gap: tokens.spacingHorizontalS,
    alignItems: 'center',
    flexWrap: 'wrap',
    paddingBottom: tokens.spacingVerticalXS,
    color: tokens.colorNeutralForeground2,
  },
  grow: { flexGrow: 1 },
  scroll: {
    overflow: 'auto',
    flexGrow: 1,
    flexBasis: '240px',
    minHeight: '120px',
    borderTop: `1px solid ${tokens.colorNeutralStroke2}`,
    outlineOffset: '-2px',
  },
  row: {
    display: 'flex',
    alignItems: 'center',
    height: `${rowHeight}px`,
    boxSizing: 'border-box',
    borderBottom: `1px solid ${tokens.colorNeutralStroke2}`,
    ':hover': { backgroundColor: tokens.colorNeutralBackground1Hover },
  },
  fresh: {
    animationName: { from: { backgroundColor: tokens.colorBrandBackground2 }, to: {} },
    animationDuration: '2s',
    '@media (prefers-reduced-motion: reduce)': { animationDuration: '0s' },
  },
  // What is in a row changes the layout of no other.
  placed: { position: 'absolute', left: 0, right: 0, contain: 'size layout style' },
  head: {
    position: 'sticky',
    top: 0,
    zIndex: 1,
    backgroundColor: tokens.colorNeutralBackground1,
    fontWeight: tokens.fontWeightSemibold,
  },
  cell: {
    flexBasis: 0,
    flexShrink: 1,
    minWidth: 0,
    paddingLeft: tokens.spacingHorizontalS,
    paddingRight: tokens.spacingHorizontalS,
    overflow: 'hidden',
    textOverflow: 'ellipsis',
    whiteSpace: 'nowrap',
  },
  pick: { flexBasis: '40px', flexShrink: 0, flexGrow: 0 },
  // The browser's own: a checkbox of the design system is half of what a row costs while a list scrolls.
  box: {
    display: 'block',
    width: '16px',
    height: '16px',
    margin: `0 ${tokens.spacingHorizontalM}`,
    accentColor: tokens.colorBrandBackground,
  },
  numeric: { textAlign: 'right' },
  wide: { [narrow]: { display: 'none' } },
  sort: {
    fontWeight: tokens.fontWeightSemibold,
    minWidth: 0,
    padding: 0,
    justifyContent: 'flex-start',
    // The brand colour of the design system is too dark here when it is dark.
    ':hover': { color: tokens.colorNeutralForeground1 },
    ':hover:active': { color: tokens.colorNeutralForeground1 },
  },
  body: { position: 'relative' },
  empty: {
    padding: `${tokens.spacingVerticalXXL} ${tokens.spacingHorizontalM}`,
    display: 'grid',
    gap: tokens.spacingVerticalM,
    justifyItems: 'center',
    textAlign: 'center',
  },
})

interface Selection<T> {
  readonly keyOf: (row: T) => string
  readonly actions: (rows: readonly T[], clear: () => void) => ReactNode
}

interface TableProps<T>
  extends Pick<Rows<T>, 'rows' | 'loading' | 'error' | 'more' | 'loadMore' | 'reload'> {
  readonly label: string
  /** The name under which the chosen columns are kept. */
  readonly name: string
  readonly columns: readonly Column<T>[]
  readonly empty: { readonly title: string; readonly text?: string; readonly action?: ReactNode }
  readonly keyOf: (row: T) => string
  readonly selection?: Pick<Selection<T>, 'actions'>
  /** The order that the server was asked for, such as `date desc`. */
  readonly order?: string
  /** Asks the server for another order; empty for its own. */
  readonly onOrder?: (order: string) => void
}

export function Table<T>(props: TableProps<T>) {
  const { label, name, columns, rows, loading, error, more, reload, keyOf, selection } = props
  const { order = '', onOrder } = props
  const styles = useStyles()
  const [hidden, setHidden] = useOwnPreference(columnsOf(name), '')
  const [ownSort, setOwnSort] = useState<Sort>()
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set())
  const togglePicked = useCallback(
    (key: string) =>
      setPicked((before) => {
        const next = new Set(before)
        if (!next.delete(key)) next.add(key)
        return next
      }),
    [],
  )
  const shown = columns.filter(({ id }) => !hidden.split(' ').includes(id))
  const { sorted, isWhole } = useSorted(rows, columns, ownSort)
  const sort = ownSort ?? sortOf(columns, order)
  if (error !== null && rows.length === 0) return <Refusal failure={error} onRetry={reload} />
  // A long list is looked through only while something is chosen in it.
  const chosen = picked.size === 0 ? [] : rows.filter((row) => picked.has(keyOf(row)))
  return (
    <div className={styles.frame}>
      <div className={styles.bar}>
        <Text size={200} role="status">
          {loading && rows.length === 0 ? appTexts.loading : tableTexts.rows(rows.length, more)}
          {!isWhole ? tableTexts.sorting : more && ownSort !== undefined && tableTexts.sortedSoFar}
        </Text>
        {chosen.length > 0 && selection?.actions(chosen, () => setPicked(new Set()))}
        <span className={styles.grow} />
        <ColumnMenu columns={columns} hidden={hidden} onHide={setHidden} />
        <Button
          size="small"
          appearance="subtle"
          icon={<ArrowDownloadRegular />}
          aria-label={tableTexts.csv}
          title={tableTexts.csv}
          onClick={() => saveCsv(name, shown, sorted)}
        />
      </div>
      {error !== null && <Refusal failure={error} onRetry={reload} />}
      <VirtualRows
        {...props}
        label={label}
        shown={shown}
        sorted={sorted}
        sort={sort}
        onSort={(id) => {
          const down = sort?.id === id && !sort.down
          const field = columns.find((one) => one.id === id)?.field
          const byServer = onOrder !== undefined && field !== undefined
          setOwnSort(byServer ? undefined : { id, down })
          if (byServer) onOrder(down ? `${field} desc` : field)
        }}
        picked={picked}
        onPick={togglePicked}
      />
    </div>
  )
}

interface VirtualProps<T> extends TableProps<T> {
  readonly shown: readonly Column<T>[]
  readonly sorted: readonly T[]
  readonly sort: Sort | undefined
  readonly onSort: (id: string) => void
  readonly picked: ReadonlySet<string>
  readonly onPick: (key: string) => void
}

function VirtualRows<T>(props: VirtualProps<T>) {
  const { label, shown, sorted, sort, onSort, loading, more, loadMore, empty, keyOf } = props
  const styles = useStyles()
  const scroll = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? -1
  useEffect(() => {
    if (more && last >= sorted.length - readAhead) loadMore()
  }, [more, last, sorted.length, loadMore])
  const cellClass = useCellClass()
  const pick = props.selection !== undefined
  return (
    <div ref={scroll} className={styles.scroll} tabIndex={0} role="region" aria-label={label}>
      <div role="table" aria-label={label} aria-rowcount={more ? -1 : sorted.length + 1}>
        <div role="rowgroup">
          <div role="row" className={mergeClasses(styles.row, styles.head)} aria-rowindex={1}>
            {pick && (
              <span role="columnheader" className={styles.pick} aria-label={tableTexts.choose} />
            )}
            {shown.map((column) => (
              <span
                role="columnheader"
                key={column.id}
                className={cellClass(column)}
                style={{ flexGrow: column.grow ?? 1 }}
                aria-sort={
                  sort?.id === column.id ? (sort.down ? 'descending' : 'ascending') : 'none'
                }
              >
                <Button
                  appearance="transparent"
                  size="small"
                  className={styles.sort}
                  iconPosition="after"
                  icon={
                    sort?.id !== column.id ? undefined : sort.down ? (
                      <ArrowDownRegular />
                    ) : (
                      <ArrowUpRegular />
                    )
                  }
                  onClick={() => onSort(column.id)}
                >
                  {column.title}
                </Button>
              </span>
            ))}
          </div>
        </div>
        <div role="rowgroup" className={styles.body} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = sorted[index]
            if (row === undefined) return null
            const key = keyOf(row)
            return (
              <Row
                key={key}
                row={row}
                rowKey={key}
                index={index}
                start={start}
                shown={shown}
                fresh={changedJustNow(key)}
                picked={pick ? props.picked.has(key) : undefined}
                onPick={props.onPick}
              />
            )
          })}
        </div>
      </div>
      {loading && <Spinner size="tiny" label={appTexts.loading} />}
      {!loading && sorted.length === 0 && (
        <div className={styles.empty}>
          <Text weight="semibold">{empty.title}</Text>
          {empty.text !== undefined && <Text>{empty.text}</Text>}
          {empty.action}
        </div>
      )}
    </div>
  )
}

interface RowProps<T> {
  readonly row: T
  readonly rowKey: string
  readonly index: number
  readonly start: number
  readonly shown: readonly Column<T>[]
  readonly fresh: boolean
  /** Undefined where rows cannot be chosen. */
  readonly picked: boolean | undefined
  readonly onPick: (key: string) => void
}

function AnyRow<T>({ row, rowKey, index, start, shown, fresh, picked, onPick }: RowProps<T>) {
  const styles = useStyles()
  const cellClass = useCellClass()
  return (
    <div
      role="row"
      className={mergeClasses(styles.row, styles.placed, fresh && styles.fresh)}
      style={{ transform: `translateY(${start}px)` }}
      aria-rowindex={index + 2}
    >
      {picked !== undefined && (
        <span role="cell" className={styles.pick}>
          <input
            type="checkbox"
            className={styles.box}
            aria-label={shown[0]?.text(row) ?? rowKey}
            checked={picked}
            onChange={() => onPick(rowKey)}
          />
        </span>
      )}
      {shown.map((column) => (
        <span
          role="cell"
          key={column.id}
          className={cellClass(column)}
          style={{ flexGrow: column.grow ?? 1 }}
          title={column.text(row)}
        >
          {column.show === undefined ? <bdi>{column.text(row)}</bdi> : column.show(row)}
        </span>
      ))}
    </div>
  )
}

/** While a list scrolls, only the rows that come into view are rendered. */
const Row = memo(AnyRow, (before, now) => {
  const { shown: columnsBefore, ...others } = before
  const { shown, ...othersNow } = now
  return isShallowEqual(columnsBefore, shown) && isShallowEqual(others, othersNow)
}) as typeof AnyRow

function isShallowEqual(one: object, other: object): boolean {
  const values = Object.values(other)
  const before = Object.values(one)
  return values.length === before.length && values.every((value, at) => value === before[at])
}

function useCellClass(): (column: Pick<Column<never>, 'numeric' | 'wideOnly'>) => string {
  const styles = useStyles()
  return ({ numeric, wideOnly }) =>
    mergeClasses(styles.cell, numeric && styles.numeric, wideOnly && styles.wide)
}

function ColumnMenu<T>({
  columns,
  hidden,
  onHide,
}: {
  readonly columns: readonly Column<T>[]
  readonly hidden: string
  readonly onHide: (hidden: string) => void
}) {
  const gone = hidden.split(' ').filter((id) => id !== '')
  return (
    <Menu
      checkedValues={{ columns: columns.map(({ id }) => id).filter((id) => !gone.includes(id)) }}
      onCheckedValueChange={(_, { checkedItems }) => {
        if (checkedItems.length === 0) return
        onHide(
          columns
            .map(({ id }) => id)
            .filter((id) => !checkedItems.includes(id))
            .join(' '),
        )
      }}
    >
      <MenuTrigger disableButtonEnhancement>
        <Button
          size="small"
          appearance="subtle"
          icon={<ColumnTripleEditRegular />}
          aria-label={tableTexts.columns}
          title={tableTexts.columns}
        />
      </MenuTrigger>
      <MenuPopover>
        <MenuList>
          {columns.map(({ id, title }) => (
            <MenuItemCheckbox key={id} name="columns" value={id}>
              {title}
            </MenuItemCheckbox>
          ))}
        </MenuList>
      </MenuPopover>
    </Menu>
  )
}

function sortOf<T>(columns: readonly Column<T>[], order: string): Sort | undefined {
  const [field, direction] = order.split(' ')
  const column = columns.find((one) => one.field !== undefined && one.field === field)
  return column && { id: column.id, down: direction === 'desc' }
}

function useSorted<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  sort: Sort | undefined,
): { readonly sorted: readonly T[]; readonly isWhole: boolean } {
  const before = useRef<Sorted<T>>(undefined)
  const whole = useRef<Pick<Sorted<T>, 'rows' | 'sorted'>>(undefined)
  const [step, nextStep] = useReducer((count: number) => count + 1, 0)
  const textOf = columns.find(({ id }) => id === sort?.id)?.text
  const down = sort?.down === true
  // biome-ignore lint/correctness/useExhaustiveDependencies: each step goes on where the one before it ended
  const found = useMemo(() => {
    if (textOf === undefined) return { sorted: rows, isWhole: true }
    before.current = sortStep(rows, { textOf, down }, before.current)
    const isWhole = before.current.rows.length === rows.length
    if (isWhole) whole.current = { rows, sorted: before.current.sorted }
    // Until the new order is there, the rows stand as they stood.
    const sorted = whole.current?.rows === rows ? whole.current.sorted : rows
    return { sorted, isWhole }
  }, [rows, textOf, down, step])
  useEffect(() => {
    if (found.isWhole) return
    const timer = setTimeout(nextStep)
    return () => clearTimeout(timer)
  }, [found])
  return found
}

function saveCsv<T>(name: string, columns: readonly Column<T>[], rows: readonly T[]): void {
  const lines = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ text }) => text(row))),
  ]
  const text = lines.map((cells) => cells.map(csvCell).join(',')).join('\r\n')
  saveFile(`${name}.csv`, new Blob([text], { type: 'text/csv' }))
}

/** A spreadsheet would take text that begins with these characters for a formula. */
export function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
