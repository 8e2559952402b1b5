/** Access at any scope: chosen here, or by the address. */

import { Field, makeStyles, Select } from '@fluentui/react-components'
import { groupId, shortId } from '../../api/ids.ts'
import { useSearch, useSetSearch } from '../../app/address.ts'
import { useGroups, useSubscriptions } from '../../app/subscription.ts'
import { Page } from '../../components/page.tsx'
import { accessTexts } from '../../texts/work.ts'
import { AccessPanel } from './access-panel.tsx'

const useStyles = makeStyles({ pick: { maxWidth: '420px' } })

export function Access() {
  const styles = useStyles()
  const { scope: wanted } = useSearch()
  const setSearch = useSetSearch()
  const { all, current } = useSubscriptions()
  const { subscriptionId, groups } = useGroups()
  const scope =
    wanted ?? (current === undefined ? undefined : `/subscriptions/${current.subscriptionId}`)
  const scopes = [
    ...all.map((one) => [`/subscriptions/${one.subscriptionId}`, one.displayName] as const),
    ...groups.rows.map(({ name }) => [groupId(subscriptionId, name), name] as const),
    ['/', accessTexts.everything] as const,
  ]
  const known = scopes.some(([id]) => id === scope)
  return (
    <Page title={accessTexts.title} lead={accessTexts.lead}>
      <Field label={accessTexts.scope} className={styles.pick}>
        <Select value={scope ?? ''} onChange={(_, { value }) => setSearch({ scope: value })}>
          {!known && scope !== undefined && <option value={scope}>{shortId(scope)}</option>}
          {scopes.map(([id, title]) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </Select>
      </Field>
      {scope !== undefined && <AccessPanel key={scope} scope={scope} />}
    </Page>
  )
}
