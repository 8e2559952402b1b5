/** Records of the audit trail as a timeline. A record opens to show what changed. */

import { Button, makeStyles, Text, tokens } from '@fluentui/react-components'
import { ChevronDownRegular } from '@fluentui/react-icons/svg/chevron-down'
import { ChevronRightRegular } from '@fluentui/react-icons/svg/chevron-right'
import { useState } from 'react'
import { shortId } from '../api/ids.ts'
import type { Rows } from '../api/queries.ts'
import { activityTexts } from '../texts/activity.ts'
import { appTexts, tableTexts } from '../texts/app.ts'
import { AppLink, resourcePath } from './app-link.tsx'
import { type Change, Changes } from './changes.tsx'
import { Refusal } from './refusal.tsx'
import { momentText, State } from './state.tsx'

/** The properties of a record that the documents leave open. */
export interface ActivityRecord {
  readonly eventDataId: string
  readonly eventTimestamp: string
  readonly operationName: { readonly value: string }
  readonly status: { readonly value: string }
  readonly subStatus?: { readonly value: string }
  readonly caller?: string
  readonly resourceId?: string
  readonly correlationId: string
  readonly httpRequest?: { readonly clientIpAddress?: string; readonly method?: string }
  readonly properties?: Readonly<Record<string, string>>
}

const useStyles = makeStyles({
  list: { listStyle: 'none', margin: 0, padding: 0, minWidth: 0 },
  item: {
    display: 'grid',
    gridTemplateColumns: 'auto 1fr',
    columnGap: tokens.spacingHorizontalS,
    borderBottom: `1px solid ${tokens.colorNeutralStroke2}`,
    padding: `${tokens.spacingVerticalXS} 0`,
    minWidth: 0,
  },
  line: {
    display: 'flex',
    flexWrap: 'wrap',
    gap: `0 ${tokens.spacingHorizontalM}`,
    alignItems: 'center',
    minWidth: 0,
  },
  soft: { color: tokens.colorNeutralForeground2 },
  what: { overflowWrap: 'anywhere' },
  more: {
    gridColumn: 2,
    minWidth: 0,
    paddingTop: tokens.spacingVerticalXS,
    display: 'grid',
    gap: tokens.spacingVerticalXS,
  },
  end: { paddingTop: tokens.spacingVerticalM },
  fresh: {
    animationName: { from: { backgroundColor: tokens.colorBrandBackground2 }, to: {} },
    animationDuration: '2s',
    '@media (prefers-reduced-motion: reduce)': { animationDuration: '0s' },
  },
})

export function ActivityList({
  found,
  empty,
  newSince,
  quiet = false,
}: {
  readonly found: Rows<ActivityRecord>
  readonly empty: string
  /** Records younger than this are highlighted once. */
  readonly newSince?: number
  /** In a card, beside other things. */
  readonly quiet?: boolean
}) {
  const styles = useStyles()
  if (found.error !== null && found.rows.length === 0) {
    return <Refusal failure={found.error} onRetry={found.reload} quiet={quiet} />
  }
  if (found.rows.length === 0) {
    return <Text role="status">{found.loading ? appTexts.loading : empty}</Text>
  }
  return (
    <div>
      <ol className={styles.list}>
        {found.rows.map((record) => (
          <li
            key={record.eventDataId}
            className={
              newSince !== undefined && Date.parse(record.eventTimestamp) > newSince
                ? styles.fresh
                : undefined
            }
          >
            <Entry record={record} />
          </li>
        ))}
      </ol>
      {found.error !== null && (
        <Refusal failure={found.error} onRetry={found.reload} quiet={quiet} />
      )}
      {found.more && found.error === null && (
        <div className={styles.end}>
          <Button onClick={found.loadMore} disabled={found.loading}>
            {tableTexts.more}
          </Button>
        </div>
      )}
    </div>
  )
}

function Entry({ record }: { readonly record: ActivityRecord }) {
  const styles = useStyles()
  const [open, setOpen] = useState(false)
  const { caller, resourceId, operationName, status, eventTimestamp } = record
  return (
    <div className={styles.item}>
      <Button
        size="small"
        appearance="subtle"
        icon={open ? <ChevronDownRegular /> : <ChevronRightRegular />}
        aria-expanded={open}
        aria-label={activityTexts.open(operationName.value)}
        onClick={() => setOpen(!open)}
      />
      <div>
        <div className={styles.line}>
          <Text className={styles.what}>{readableAction(operationName.value)}</Text>
          {resourceId !== undefined && (
            <AppLink to={resourcePath(resourceId)} title={resourceId}>
              {shortId(resourceId)}
            </AppLink>
          )}
          <State value={record.subStatus?.value === 'Forbidden' ? 'Failed' : status.value} />
        </div>
        <Text size={200} className={styles.soft}>
          {[momentText(eventTimestamp), caller].filter((one) => one !== undefined).join(' · ')}
        </Text>
      </div>
      {open && <Details record={record} />}
    </div>
  )
}

function Details({ record }: { readonly record: ActivityRecord }) {
  const styles = useStyles()
  const { properties, httpRequest, operationName, correlationId, subStatus } = record
  return (
    <div className={styles.more}>
      <Text size={200} className={styles.soft}>
        {operationName.value}
        {subStatus === undefined ? '' : ` · ${subStatus.value}`}
        {httpRequest?.clientIpAddress === undefined ? '' : ` · ${httpRequest.clientIpAddress}`}
        {` · ${correlationId}`}
      </Text>
      {properties?.['statusMessage'] !== undefined && <Text>{properties['statusMessage']}</Text>}
      <Changes changes={changesOf(properties?.['changes'])} />
    </div>
  )
}

function changesOf(text: string | undefined): readonly Change[] {
  // The server writes it as JSON in a text.
  return text === undefined ? [] : (JSON.parse(text) as readonly Change[])
}

/** `Vendor.Resources/subscriptions/resourceGroups/write` → `resource groups write`, `…/stop/action` → `… stop`. */
export function readableAction(action: string): string {
  const [namespace = '', ...rest] = action.split('/')
  const words = rest.at(-1) === 'action' ? rest.slice(0, -1) : rest
  return (words.length > 2 && words[0] === 'subscriptions' ? words.slice(1) : words)
    .concat(words.length === 0 ? namespace : [])
    .join(' ')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
}
