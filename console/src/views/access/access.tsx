/** Access at any scope, which is chosen here or by the address, and the principals of the directory. */

import { Field, makeStyles, Select, Tab, TabList } from '@fluentui/react-components'
import { groupId, shortId } from '../../api/ids.ts'
import { useSearch, useSetSearch } from '../../app/address.ts'
import { useGroups, useSubscriptions } from '../../app/subscription.ts'
import { Page } from '../../components/page.tsx'
import { accessTexts } from '../../texts/access.ts'
import { AccessPanel } from './access-panel.tsx'
import { People } from './people.tsx'

const useStyles = makeStyles({ pick: { maxWidth: '420px' } })

export function Access() {
  const { view = 'assignments' } = useSearch()
  const setSearch = useSetSearch()
  return (
    <Page title={accessTexts.title} lead={accessTexts.lead}>
      <TabList
        selectedValue={view}
        onTabSelect={(_, { value }) => setSearch({ view: String(value) })}
      >
        <Tab value="assignments">{accessTexts.assignments}</Tab>
        <Tab value="people">{accessTexts.people}</Tab>
      </TabList>
      {view === 'people' ? <People /> : <Assignments />}
    </Page>
  )
}

function Assignments() {
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
    <>
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
    </>
  )
}
