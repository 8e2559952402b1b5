/** The result of a migration by database and table. It stays after the migration has ended. */

import { makeStyles, Text, tokens } from '@fluentui/react-components'
import { refusalOf, useCall } from '../../api/queries.ts'
import { Card, Pairs } from '../../components/card.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { sizeText, spanText } from '../../components/sizes.ts'
import { momentText, State } from '../../components/state.tsx'
import { Table } from '../../components/table.tsx'
import { migrationTexts } from '../../texts/migrations.ts'
import type { Report } from './migration.ts'

const useStyles = makeStyles({
  list: { margin: 0, paddingLeft: tokens.spacingHorizontalL, overflowWrap: 'anywhere' },
  tables: { display: 'flex', flexDirection: 'column', height: '260px' },
})

export function ReportCard({
  path,
  every,
}: {
  readonly path: Parameters<typeof useCall<'getMigrationReport'>>[1]['path']
  readonly every: number | false
}) {
  const found = useCall('getMigrationReport', { path }, { every })
  const refused = refusalOf(found)
  if (refused !== null) return <Refusal failure={refused} onRetry={() => void found.refetch()} />
  return (
    <>
      {(found.data?.databases ?? []).map((database) => (
        <OfDatabase key={database.name} database={database} />
      ))}
    </>
  )
}

function OfDatabase({ database }: { readonly database: Report['databases'][number] }) {
  const styles = useStyles()
  const { name, outcome, startedOn, endedOn, pauseMilliseconds, verified, leftOut, tables } =
    database
  return (
    <Card title={`${migrationTexts.report}: ${name}`}>
      <Pairs
        pairs={[
          [migrationTexts.outcome, <State key="outcome" value={outcome} />],
          [
            migrationTexts.time,
            startedOn === undefined
              ? undefined
              : `${momentText(startedOn)} – ${endedOn === undefined ? migrationTexts.now : momentText(endedOn)}`,
          ],
          [
            migrationTexts.pause,
            pauseMilliseconds === undefined ? undefined : spanText(pauseMilliseconds),
          ],
          [
            migrationTexts.verified,
            verified === undefined
              ? undefined
              : migrationTexts.verifiedText(verified.how, verified.tables, verified.rows),
          ],
        ]}
      />
      {leftOut.length > 0 && (
        <>
          <Text weight="semibold">{migrationTexts.leftOut}</Text>
          <ul className={styles.list}>
            {leftOut.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
        </>
      )}
      {tables.length > 0 && (
        <div className={styles.tables}>
          <Table
            rows={tables}
            loading={false}
            error={null}
            more={false}
            loadMore={() => undefined}
            reload={() => undefined}
            label={`${migrationTexts.tables}: ${name}`}
            name="migration-tables"
            keyOf={(table) => table.name}
            columns={[
              { id: 'name', title: migrationTexts.table, text: (table) => table.name, grow: 2 },
              {
                id: 'rows',
                title: migrationTexts.rows,
                text: (table) => table.rows.toLocaleString(),
                numeric: true,
              },
              {
                id: 'size',
                title: migrationTexts.size,
                text: (table) => sizeText(table.bytes),
                numeric: true,
              },
              {
                id: 'time',
                title: migrationTexts.time,
                text: (table) => spanText(table.milliseconds),
                numeric: true,
                wideOnly: true,
              },
            ]}
            empty={{ title: migrationTexts.tables }}
          />
        </div>
      )}
      {database.tablesNotShown > 0 && (
        <Text>{migrationTexts.notShown(database.tablesNotShown)}</Text>
      )}
    </Card>
  )
}
