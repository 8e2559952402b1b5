/** One person, group or application: who it is, and what it may do by itself and by its groups. */

import { makeStyles, Text, tokens } from '@fluentui/react-components'
import { shortId } from '../../api/ids.ts'
import { refusalOf, useGet, useList } from '../../api/queries.ts'
import { useRights } from '../../app/rights.ts'
import { useSubscriptions } from '../../app/subscription.ts'
import { AppLink } from '../../components/app-link.tsx'
import { Card, Pairs } from '../../components/card.tsx'
import { EmptyText } from '../../components/empty-text.tsx'
import { Loading } from '../../components/page.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { accessTexts, peopleTexts } from '../../texts/access.ts'
import { appTexts } from '../../texts/app.ts'
import { useRoles } from './access-panel.tsx'
import type { Kind, Member } from './members.tsx'

const useStyles = makeStyles({
  list: { listStyle: 'none', margin: 0, padding: 0, display: 'grid', gap: tokens.spacingVerticalS },
  line: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalS, alignItems: 'center' },
  soft: { color: tokens.colorNeutralForeground2 },
})

export function MemberCard({ kind, id }: { readonly kind: Kind; readonly id: string }) {
  const found = useGet<Member>(`/directory/${kind}/${encodeURIComponent(id)}`)
  const refused = refusalOf(found)
  if (refused !== null) return <Refusal failure={refused} />
  if (found.data === undefined) return <Loading />
  const { displayName, signInName, clientId } = found.data
  return (
    <Card title={displayName}>
      <Pairs
        pairs={[
          [accessTexts.kind, appTexts.kinds[kind]],
          [peopleTexts.signInName, signInName],
          [peopleTexts.clientId, clientId],
          [peopleTexts.id, id],
        ]}
      />
      <Roles id={id} />
    </Card>
  )
}

/** Where the caller may read assignments everywhere, all of them; else those of the current subscription. */
function Roles({ id }: { readonly id: string }) {
  const styles = useStyles()
  const rights = useRights()
  const { current } = useSubscriptions()
  const here = `/subscriptions/${current?.subscriptionId ?? ''}`
  const isWhole = rights.mayEverywhere('access')
  const scope = isWhole ? '/' : here
  const roles = useRoles(scope)
  const found = useList(
    'listRoleAssignments',
    { path: { scope }, query: { $filter: `assignedTo('${id}')` } },
    { enabled: rights.known && (isWhole || current !== undefined) },
  )
  return (
    <>
      <Text weight="semibold">{peopleTexts.roles}</Text>
      {found.error !== null && <Refusal failure={found.error} quiet />}
      <EmptyText found={found} rows={found.rows} text={peopleTexts.noRoles} />
      <ul className={styles.list}>
        {found.rows.map(({ id: key, properties }) => (
          <li key={key} className={styles.line}>
            <Text>{roles.nameOf(properties.roleDefinitionId)}</Text>
            <AppLink to={`/access?scope=${encodeURIComponent(properties.scope)}`}>
              {shortId(properties.scope)}
            </AppLink>
            {properties.principalId !== id && (
              <Text className={styles.soft} size={200}>
                {peopleTexts.byGroup}
              </Text>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}
