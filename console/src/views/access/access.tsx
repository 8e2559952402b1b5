/** Access at any scope, which is chosen here or by the address, and the principals of the directory. */

import { Field, makeStyles, Select, Tab, TabList } from '@fluentui/react-components'
import { groupId, shortId } from '../../api/ids.ts'
import { useSearch, useSetSearch } from '../../app/address.ts'
import { useRights } from '../../app/rights.ts'
import { everywhere } from '../../app/scopes.ts'
import { useGroups, useScopes } from '../../app/subscription.ts'
import { Page } from '../../components/page.tsx'
import { accessTexts } from '../../texts/access.ts'
import { AccessPanel } from './access-panel.tsx'
import { People } from './people.tsx'

const useStyles = makeStyles({ pick: { maxWidth: '420px' } })

export function Access() {
  const { view: wanted = 'assignments' } = useSearch()
  const setSearch = useSetSearch()
  const rights = useRights()
  const { chosen } = useScopes()
  const mayReadPeople = rights.may('people') || wanted === 'people'
  // Somebody may look after people and have no subscription.
  const view = rights.known && chosen === '' && mayReadPeople ? 'people' : wanted
  return (
    <Page title={accessTexts.title} lead={accessTexts.lead}>
      <TabList
        selectedValue={view}
        onTabSelect={(_, { value }) => setSearch({ view: String(value) })}
      >
        <Tab value="assignments">{accessTexts.assignments}</Tab>
        {mayReadPeople && <Tab value="people">{accessTexts.people}</Tab>}
      </TabList>
      {view === 'people' ? <People /> : <Assignments />}
    </Page>
  )
}

function Assignments() {
  const styles = useStyles()
  const { scope: wanted } = useSearch()
  const setSearch = useSetSearch()
  const { scopes: placed, chosen } = useScopes()
  const { subscriptionId, groups } = useGroups()
  const rights = useRights()
  const [first] = groups.rows
  const usual =
    chosen === everywhere
      ? '/'
      : chosen !== '' && !chosen.startsWith('/')
        ? `/subscriptions/${chosen}`
        : chosen
  // Somebody with a role in a group alone begins there: the rest would be refused.
  const mayHere = rights.may('access') || rights.mayEverywhere('access')
  const scope =
    wanted ??
    (!rights.known || (!mayHere && groups.loading)
      ? undefined
      : mayHere || first === undefined
        ? usual || undefined
        : groupId(subscriptionId, first.name))
  const scopes = [
    ...placed
      .filter(({ id }) => id !== everywhere)
      .map(({ id, name }) => [id.startsWith('/') ? id : `/subscriptions/${id}`, name] as const),
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
