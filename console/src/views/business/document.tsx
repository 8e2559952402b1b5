/**
 * One document with its lines as a sheet. A cell is saved when it loses focus or Enter is pressed. The typed total
 * appears at once, and the server's total after the save.
 */

import { Button, Input, makeStyles, Select, Text, tokens } from '@fluentui/react-components'
import { DeleteRegular } from '@fluentui/react-icons/svg/delete'
import { type KeyboardEvent, useRef, useState } from 'react'
import { download, send } from '../../api/client.ts'
import { qualified } from '../../api/place.ts'
import { refusalOf, useGet, useWrite } from '../../api/queries.ts'
import { Card, Pairs } from '../../components/card.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { Loading, Page } from '../../components/page.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { saveFile } from '../../components/save-file.ts'
import { State } from '../../components/state.tsx'
import { businessTexts } from '../../texts/business.ts'
import {
  amountText,
  change,
  type Document,
  type DocumentKind,
  dateOf,
  type Line,
  lineAmount,
  linesOf,
  type Named,
  useEntities,
} from './entities.ts'

const useStyles = makeStyles({
  scroll: { overflowX: 'auto' },
  sheet: {
    borderCollapse: 'collapse',
    width: '100%',
    '& th': { textAlign: 'left', padding: tokens.spacingHorizontalXS, whiteSpace: 'nowrap' },
    '& td': { padding: '2px' },
  },
  text: { width: '100%', minWidth: '160px' },
  number: { width: '110px' },
  amount: { textAlign: 'right', fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' },
  bar: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalS },
})

const cells = ['description', 'quantity', 'unitPrice', 'discountPercent'] as const
type Cell = (typeof cells)[number]
const titles: Readonly<Record<Cell, string>> = {
  description: businessTexts.description,
  quantity: businessTexts.quantity,
  unitPrice: businessTexts.price,
  discountPercent: businessTexts.discount,
}
/** Typed text that is not saved yet, by line and cell. */
type Typed = Readonly<Record<string, string>>

export function DocumentView({
  root,
  kind,
  id,
  back,
}: {
  readonly root: string
  readonly kind: DocumentKind
  readonly id: string
  readonly back: string
}) {
  const styles = useStyles()
  const path = `${root}/${kind}(${id})`
  const found = useGet<Document>(path)
  const lines = useEntities<Line>(`${path}/${linesOf(kind)}`)
  const items = useEntities<Named>(`${root}/items`)
  const [typed, setTyped] = useState<Typed>({})
  const [posting, setPosting] = useState(false)
  const write = useWrite((run: () => Promise<unknown>) => run())
  const inTurn = useTurns(write.mutateAsync)
  const changeLine = useLineChanges()
  const print = useWrite(() => download(`${path}/pdfDocument/content`))
  const crumbs = [{ title: businessTexts.kinds[kind], to: back }]
  const refused = refusalOf(found)
  if (refused !== null) {
    return (
      <Page title={businessTexts.title} crumbs={crumbs}>
        <Refusal failure={refused} onRetry={() => void found.refetch()} />
      </Page>
    )
  }
  if (found.data === undefined) return <Loading />
  const document = found.data
  const isOpen = document.status === 'Draft'
  const rows = lines.data?.value ?? []
  const linePath = (line: Line): string => `${path}/${linesOf(kind)}(${line.id})`
  const cellText = (line: Line, cell: Cell): string =>
    typed[`${line.id} ${cell}`] ?? String(line[cell])
  const save = (line: Line, cell: Cell): void => {
    const text = typed[`${line.id} ${cell}`]
    if (text === undefined) return
    const value = cell === 'description' ? text : Number(text.replace(',', '.'))
    const forget = (): void => setTyped(({ [`${line.id} ${cell}`]: _, ...rest }) => rest)
    if (value === line[cell]) forget()
    else void inTurn(() => changeLine(linePath(line), line, { [cell]: value }), forget)
  }
  const sum = rows.reduce(
    (total, line) => total + typedAmount(line, (cell) => cellText(line, cell)),
    0,
  )
  const add = (): void =>
    void inTurn(() =>
      send('POST', `${path}/${linesOf(kind)}`, { body: firstLine(items.data?.value) }),
    )
  return (
    <Page
      title={document.number}
      lead={document.customerName}
      crumbs={crumbs}
      actions={
        <>
          <Button
            disabled={print.isPending}
            onClick={() =>
              print.mutate(undefined, {
                onSuccess: (file) => saveFile(`${document.number}.pdf`, file),
              })
            }
          >
            {businessTexts.pdf}
          </Button>
          {isOpen && (
            <Button appearance="primary" onClick={() => setPosting(true)}>
              {businessTexts.post}
            </Button>
          )}
        </>
      }
    >
      {print.error !== null && <Refusal failure={print.error} />}
      <Pairs
        pairs={[
          [businessTexts.status, <State key="status" value={document.status} />],
          [businessTexts.date, dateOf(document)],
          [businessTexts.due, document.dueDate],
        ]}
      />
      <Card title={businessTexts.lines}>
        <div className={styles.scroll} tabIndex={0} role="region" aria-label={businessTexts.lines}>
          <table className={styles.sheet}>
            <thead>
              <tr>
                <th scope="col">{businessTexts.item}</th>
                {cells.map((cell) => (
                  <th key={cell} scope="col">
                    {titles[cell]}
                  </th>
                ))}
                <th scope="col">{businessTexts.amount}</th>
                <th scope="col" />
              </tr>
            </thead>
            <tbody>
              {rows.map((line, index) => (
                <tr key={line.id}>
                  <td>
                    <Select
                      aria-label={businessTexts.of(businessTexts.item, index + 1)}
                      disabled={!isOpen}
                      value={line.itemId ?? ''}
                      onChange={(_, { value }) =>
                        void inTurn(() => changeLine(linePath(line), line, { itemId: value }))
                      }
                    >
                      <option value="">{businessTexts.noItem}</option>
                      {(items.data?.value ?? []).map((item) => (
                        <option key={item.id} value={item.id}>
                          {item.displayName}
                        </option>
                      ))}
                    </Select>
                  </td>
                  {cells.map((cell) => (
                    <td key={cell}>
                      <Input
                        className={cell === 'description' ? styles.text : styles.number}
                        aria-label={businessTexts.of(titles[cell], index + 1)}
                        disabled={!isOpen}
                        inputMode={cell === 'description' ? 'text' : 'decimal'}
                        value={cellText(line, cell)}
                        onChange={(_, { value }) =>
                          setTyped((before) => ({ ...before, [`${line.id} ${cell}`]: value }))
                        }
                        onBlur={() => save(line, cell)}
                        onKeyDown={(event) =>
                          moveDown(event, () => index === rows.length - 1 && add())
                        }
                      />
                    </td>
                  ))}
                  <td className={styles.amount}>
                    {amountText(typedAmount(line, (cell) => cellText(line, cell)))}
                  </td>
                  <td>
                    <Button
                      appearance="subtle"
                      icon={<DeleteRegular />}
                      disabled={!isOpen}
                      aria-label={businessTexts.removeLine(index + 1)}
                      onClick={() =>
                        void inTurn(() =>
                          send('DELETE', linePath(line), { headers: { 'If-Match': '*' } }),
                        )
                      }
                    />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {isOpen && (
          <div className={styles.bar}>
            {/* A new line has the first item. */}
            <Button onClick={add} disabled={write.isPending || items.isPending}>
              {businessTexts.addLine}
            </Button>
            {write.isPending && <Text role="status">{businessTexts.saving}</Text>}
          </div>
        )}
        {lines.error !== null && (
          <Refusal failure={lines.error} onRetry={() => void lines.refetch()} />
        )}
        {items.error !== null && (
          <Refusal failure={items.error} onRetry={() => void items.refetch()} />
        )}
        {write.error !== null && <Refusal failure={write.error} />}
      </Card>
      <Card title={businessTexts.total}>
        <Pairs
          pairs={[
            [businessTexts.typed, amountText(sum)],
            [
              businessTexts.discountOfAll,
              (document.discountAmount ?? 0) === 0
                ? undefined
                : amountText(document.discountAmount ?? 0),
            ],
            [businessTexts.net, amountText(document.totalAmountExcludingTax)],
            [businessTexts.tax, amountText(document.totalTaxAmount)],
            [
              businessTexts.withTax,
              `${amountText(document.totalAmountIncludingTax)} ${document.currencyCode ?? ''}`,
            ],
          ]}
        />
      </Card>
      {posting && (
        <FormDialog
          title={businessTexts.postTitle}
          submit={businessTexts.post}
          busy={write.isPending}
          failure={write.error}
          onSubmit={() =>
            write.mutate(() => send('POST', `${path}/${qualified('NAV.post')}`), {
              onSuccess: () => setPosting(false),
            })
          }
          onClose={() => setPosting(false)}
        >
          <Text>{businessTexts.postText}</Text>
        </FormDialog>
      )}
    </Page>
  )
}

function typedAmount(line: Line, textOf: (cell: Cell) => string): number {
  const numberOf = (cell: Cell): number => {
    const value = Number(textOf(cell).replace(',', '.'))
    return Number.isNaN(value) ? Number(line[cell]) : value
  }
  return lineAmount(numberOf('quantity'), numberOf('unitPrice'), numberOf('discountPercent'))
}

function firstLine(items: readonly Named[] | undefined): object {
  const [item] = items ?? []
  return item === undefined
    ? { description: businessTexts.noItem }
    : { itemId: item.id, quantity: 1 }
}

/** Enter goes to the same cell of the next line, as in a sheet. After the last line it adds one. */
function moveDown(event: KeyboardEvent<HTMLInputElement>, behindLast: () => void): void {
  if (event.key !== 'Enter') return
  event.preventDefault()
  const cell = event.currentTarget.closest('td')
  const next = cell?.parentElement?.nextElementSibling?.children[cell.cellIndex]
  event.currentTarget.blur()
  const input = next?.querySelector('input')
  if (input === null || input === undefined) behindLast()
  else input.focus()
}

type Run = () => Promise<unknown>

/** One write after the other. What waits behind a refused one is not sent, and what was typed stays. */
function useTurns(write: (run: Run) => Promise<unknown>) {
  const last = useRef<Promise<unknown>>(Promise.resolve())
  const inTurn = (run: Run): Promise<unknown> => {
    const turn = last.current.then(run)
    last.current = turn
    const forget = (): void => {
      if (last.current === turn) last.current = Promise.resolve()
    }
    turn.then(forget, forget)
    return turn
  }
  return (run: Run, onDone: () => void = () => undefined): Promise<void> =>
    // The refusal is shown by the page.
    write(() => inTurn(run)).then(onDone, () => undefined)
}

/** Changes lines. A line may be changed again before it was read again: then its tag is that of the answer. */
function useLineChanges() {
  const next = useRef(new Map<string, string>())
  return async (path: string, line: Line, body: object): Promise<void> => {
    const newerThan = (tag: string): string => {
      const newer = next.current.get(`${path} ${tag}`)
      return newer === undefined ? tag : newerThan(newer)
    }
    const tag = newerThan(line['@odata.etag'] ?? '*')
    const answer = await change(path, { ...line, '@odata.etag': tag }, body)
    const newer = (answer.body as Line)['@odata.etag']
    if (newer !== undefined && newer !== tag) next.current.set(`${path} ${tag}`, newer)
  }
}
