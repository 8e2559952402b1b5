/** The sessions of the person, and buttons that end one of them or all of them with every token. */

import { Button, makeStyles, Text, tokens } from '@fluentui/react-components'
import { send } from '../../api/client.ts'
import { useListAt, useWrite } from '../../api/queries.ts'
import { person } from '../../api/session.ts'
import { Page } from '../../components/page.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { momentText } from '../../components/state.tsx'
import { Table } from '../../components/table.tsx'
import { accountTexts } from '../../texts/app.ts'

/** As the directory answers it. No document describes the directory. */
interface Session {
  readonly id: string
  /** The application that got tokens in this session; a browser session has none. */
  readonly clientId?: string
  readonly address?: string
  readonly userAgent?: string
  readonly createdOn: string
  readonly lastUsedOn: string
}

const path = '/directory/me/sessions'

const useStyles = makeStyles({
  all: { display: 'grid', gap: tokens.spacingVerticalS, justifyItems: 'start' },
})

export function Account() {
  const styles = useStyles()
  const found = useListAt<Session>(path)
  const end = useWrite(({ id }: Session) => send('DELETE', `${path}/${encodeURIComponent(id)}`))
  const endAll = useWrite(() => send('POST', '/directory/me/revoke'))
  const failure = end.error ?? endAll.error
  return (
    <Page title={accountTexts.title} lead={accountTexts.lead(person()?.name ?? '')}>
      {failure !== null && <Refusal failure={failure} />}
      <Table
        {...found}
        label={accountTexts.title}
        name="sessions"
        keyOf={({ id }) => id}
        columns={[
          {
            id: 'with',
            title: accountTexts.with,
            text: ({ clientId, userAgent }) => clientId ?? userAgent ?? accountTexts.browser,
            grow: 2,
          },
          {
            id: 'address',
            title: accountTexts.address,
            text: ({ address }) => address ?? '',
            wideOnly: true,
          },
          {
            id: 'created',
            title: accountTexts.since,
            text: ({ createdOn }) => momentText(createdOn),
            wideOnly: true,
            grow: 2,
          },
          {
            id: 'used',
            title: accountTexts.used,
            text: ({ lastUsedOn }) => momentText(lastUsedOn),
            wideOnly: true,
            grow: 2,
          },
          {
            id: 'end',
            title: accountTexts.end,
            text: () => '',
            show: (one) => (
              <Button
                size="small"
                aria-label={`${accountTexts.end}: ${one.clientId ?? one.userAgent ?? one.id}`}
                disabled={end.isPending}
                onClick={() => end.mutate(one)}
              >
                {accountTexts.end}
              </Button>
            ),
          },
        ]}
        empty={{ title: accountTexts.none }}
      />
      <div className={styles.all}>
        <Text>{accountTexts.allWhy}</Text>
        <Button disabled={endAll.isPending} onClick={() => endAll.mutate(undefined)}>
          {accountTexts.all}
        </Button>
      </div>
    </Page>
  )
}
