/** The audit trail of one subscription or of all, filtered, and followed live. */

import { Field, Input, makeStyles, Select, Switch, tokens } from '@fluentui/react-components'
import { useState } from 'react'
import { quoted } from '../../api/filter.ts'
import { useSearch, useSetSearch } from '../../app/address.ts'
import { useRights } from '../../app/rights.ts'
import { everywhere } from '../../app/scopes.ts'
import { useSubscriptions } from '../../app/subscription.ts'
import { useRecentActivity } from '../../components/activity.ts'
import { ActivityList } from '../../components/activity-list.tsx'
import { Options } from '../../components/options.tsx'
import { Page } from '../../components/page.tsx'
import { useTypedText } from '../../components/typed-text.ts'
import { activityTexts } from '../../texts/activity.ts'

const useStyles = makeStyles({
  filters: {
    display: 'grid',
    gap: tokens.spacingHorizontalM,
    gridTemplateColumns: 'repeat(auto-fit, minmax(170px, 1fr))',
    alignItems: 'end',
    maxWidth: '1200px',
    // Fields are as wide as their column, even in a narrow one.
    '& > *': { minWidth: 0 },
    '& .fui-Input, & .fui-Input__input, & .fui-Select__select': { minWidth: 0, width: '100%' },
  },
})

export function Activity() {
  const styles = useStyles()
  const { where: wanted, hours = '24', status = '', caller = '', group = '', follow } = useSearch()
  const setSearch = useSetSearch()
  const { all, current, wide } = useSubscriptions()
  const { mayEverywhere } = useRights()
  const isEverywhere = wide === everywhere && mayEverywhere('activity')
  const where = wanted ?? (isEverywhere ? 'all' : '')
  const [openedAt] = useState(() => Date.now())
  const subscription = all.find(({ subscriptionId }) => subscriptionId === where) ?? current
  const scope = where === 'all' ? '/' : `/subscriptions/${subscription?.subscriptionId ?? ''}`
  const conditions = [
    ...(status === '' ? [] : [`status eq '${status}'`]),
    ...(caller === '' ? [] : [`caller eq ${quoted(caller)}`]),
    ...(group === '' ? [] : [`resourceGroupName eq ${quoted(group)}`]),
  ]
  const found = useRecentActivity({
    scope,
    hours: Number(hours),
    ...(conditions.length === 0 ? {} : { filter: conditions.join(' and ') }),
    live: follow === 'yes',
    enabled: where === 'all' || subscription !== undefined,
  })
  return (
    <Page title={activityTexts.title} lead={activityTexts.lead}>
      <div className={styles.filters}>
        <Field label={activityTexts.subscription}>
          <Select
            value={where === 'all' ? 'all' : (subscription?.subscriptionId ?? '')}
            onChange={(_, { value }) => setSearch({ where: value })}
          >
            {all.map(({ subscriptionId, displayName }) => (
              <option key={subscriptionId} value={subscriptionId}>
                {displayName}
              </option>
            ))}
            {(mayEverywhere('activity') || where === 'all') && (
              <option value="all">{activityTexts.everywhere}</option>
            )}
          </Select>
        </Field>
        <Field label={activityTexts.since}>
          <Select value={hours} onChange={(_, { value }) => setSearch({ hours: value })}>
            <Options of={activityTexts.hours} />
          </Select>
        </Field>
        <Field label={activityTexts.status}>
          <Select value={status} onChange={(_, { value }) => setSearch({ status: value })}>
            <option value="">{activityTexts.anyStatus}</option>
            <Options of={activityTexts.statuses} />
          </Select>
        </Field>
        <WholeText
          label={activityTexts.caller}
          value={caller}
          onChange={(text) => setSearch({ caller: text })}
        />
        <WholeText
          label={activityTexts.group}
          value={group}
          onChange={(text) => setSearch({ group: text })}
        />
        <Switch
          label={activityTexts.follow}
          checked={follow === 'yes'}
          onChange={(_, { checked }) => setSearch({ follow: checked ? 'yes' : undefined })}
        />
      </div>
      <ActivityList found={found} empty={activityTexts.empty} newSince={openedAt} />
    </Page>
  )
}

/** A filter that is compared as a whole, so it is applied when it has been typed to its end. */
function WholeText({
  label,
  value,
  onChange,
}: {
  readonly label: string
  readonly value: string
  readonly onChange: (text: string) => void
}) {
  const [text, setText] = useTypedText(value)
  return (
    <Field label={label}>
      <Input
        value={text}
        onChange={(_, { value: typed }) => setText(typed)}
        onBlur={() => onChange(text)}
        onKeyDown={({ key }) => {
          if (key === 'Enter') onChange(text)
        }}
      />
    </Field>
  )
}
