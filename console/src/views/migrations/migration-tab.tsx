/**
 * One migration: buttons for the actions that it waits for, databases with tables and rates, what holds the
 * cutover, the report.
 */

import {
  Button,
  Field,
  Input,
  makeStyles,
  ProgressBar,
  Text,
  tokens,
} from '@fluentui/react-components'
import { useEffect, useRef, useState } from 'react'
import { type AnswerOf, call } from '../../api/client.ts'
import { readId } from '../../api/ids.ts'
import { refusalOf, useCall, useWrite } from '../../api/queries.ts'
import { Card, CardGrid, Pairs } from '../../components/card.tsx'
import { type Line, Lines } from '../../components/lines.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { sizeText } from '../../components/sizes.ts'
import { State } from '../../components/state.tsx'
import { migrationTexts } from '../../texts/migrations.ts'
import type { TabProps } from '../resource/resource.tsx'
import { type DatabaseState, differencesIn, type Migration, statusOf } from './migration.ts'
import { ReportCard } from './report-card.tsx'

/** Milliseconds between two fetches of work that leaves no record, and the number of samples that are drawn. */
const lookEvery = 2_000
const samplesMax = 150

const useStyles = makeStyles({
  actions: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalS, alignItems: 'end' },
  list: { listStyle: 'none', margin: 0, padding: 0, display: 'grid', gap: tokens.spacingVerticalS },
  head: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalS, alignItems: 'center' },
  name: { overflowWrap: 'anywhere', minWidth: 0 },
  soft: { color: tokens.colorNeutralForeground2, overflowWrap: 'anywhere' },
  differences: {
    margin: 0,
    paddingLeft: tokens.spacingHorizontalL,
    fontFamily: tokens.fontFamilyMonospace,
    fontSize: tokens.fontSizeBase200,
    overflowWrap: 'anywhere',
  },
})

type Properties = NonNullable<Parameters<typeof call<'patchMigration'>>[1]['body']>['properties']
type Progress = AnswerOf<'getMigrationProgress'>['databases'][number]

export function MigrationTab({ id }: TabProps) {
  const styles = useStyles()
  const { subscriptionId = '', group = '', name } = readId(id)
  const server = id.split('/').at(-3) ?? ''
  const path = {
    subscriptionId,
    resourceGroupName: group,
    flexibleServerName: server,
    migrationName: name,
  }
  const [ended, setEnded] = useState(false)
  const every = ended ? false : lookEvery
  const found = useCall('getMigration', { path }, { every })
  const progress = useCall('getMigrationProgress', { path }, { every })
  const patch = useWrite((properties: Properties) =>
    call('patchMigration', { path, body: { properties } }),
  )
  const catchUp = useWrite(() => call('catchUpMigration', { path, body: {} }))
  const samples = useSamples(found.data, progress.data?.databases ?? [], progress.dataUpdatedAt)
  const hasEnded = found.data === undefined ? false : statusOf(found.data).ended
  useEffect(() => setEnded(hasEnded), [hasEnded])
  const refused = refusalOf(found)
  if (refused !== null) return <Refusal failure={refused} onRetry={() => void found.refetch()} />
  if (found.data === undefined) return null
  const status = statusOf(found.data)
  const { properties } = found.data
  const failure = patch.error ?? catchUp.error
  return (
    <>
      <Card title={migrationTexts.state}>
        <div className={styles.head} role="status">
          <State value={status.state} />
          <Text>{status.step}</Text>
        </div>
        <Pairs
          pairs={[
            [migrationTexts.mode, properties.migrationMode],
            [migrationTexts.source, properties.sourceDbServerResourceId],
            [migrationTexts.server, server],
          ]}
        />
        {status.error !== undefined && status.error !== '' && <Text>{status.error}</Text>}
        {!status.ended && (
          <Waiting
            migration={found.data}
            busy={patch.isPending}
            onAnswer={(answer) => patch.mutate(answer)}
          />
        )}
        {failure !== null && <Refusal failure={failure} />}
      </Card>
      <CardGrid>
        {status.databases.map((database) => (
          <Database
            key={database.databaseName}
            database={database}
            progress={progress.data?.databases.find((one) => one.name === database.databaseName)}
            lines={samples.get(database.databaseName) ?? []}
            onCatchUp={status.ended ? undefined : () => catchUp.mutate(undefined)}
          />
        ))}
      </CardGrid>
      {status.findings.length > 0 && (
        <Card title={migrationTexts.findings}>
          <ul className={styles.list}>
            {status.findings.map((one) => (
              <li key={`${one.database} ${one.check} ${one.message}`}>
                <div className={styles.head}>
                  <State value={one.state} />
                  <Text weight="semibold">
                    {[one.database, one.check].filter(Boolean).join(' · ')}
                  </Text>
                </div>
                <Text className={styles.soft}>{one.message}</Text>
              </li>
            ))}
          </ul>
        </Card>
      )}
      <ReportCard path={path} every={every} />
    </>
  )
}

/** The samples of each fetch. They are kept in this page's memory, because the server keeps none. */
function useSamples(
  migration: Migration | undefined,
  databases: readonly Progress[],
  at: number,
): ReadonlyMap<string, readonly Line[]> {
  const kept = useRef(new Map<string, Map<string, (readonly [number, number])[]>>())
  const applied = useRef(new Map<string, readonly [number, number]>())
  const last = useRef(0)
  if (migration !== undefined && at > last.current) {
    last.current = at
    const put = (database: string, line: string, value: number): void => {
      const lines = kept.current.get(database) ?? new Map<string, (readonly [number, number])[]>()
      kept.current.set(database, lines)
      const points = lines.get(line) ?? []
      lines.set(line, [...points.slice(-samplesMax), [at, value]])
    }
    for (const { name, phase, bytesPerSecond, tables } of databases) {
      if (phase !== 'copying') continue
      put(name, migrationTexts.rates, bytesPerSecond)
      for (const table of tables)
        if (table.state === 'loading') put(name, table.name, table.bytesPerSecond)
    }
    for (const { databaseName, appliedChanges = 0 } of statusOf(migration).databases) {
      const [before = 0, count = 0] = applied.current.get(databaseName) ?? []
      applied.current.set(databaseName, [at, appliedChanges])
      if (before > 0 && appliedChanges > 0) {
        put(databaseName, migrationTexts.applied, ((appliedChanges - count) * 1000) / (at - before))
      }
    }
  }
  return new Map(
    [...kept.current].map(([name, lines]) => [
      name,
      [...lines].map(([line, points]) => ({ name: line, points })),
    ]),
  )
}

function Waiting({
  migration,
  busy,
  onAnswer,
}: {
  readonly migration: Migration
  readonly busy: boolean
  readonly onAnswer: (answer: Properties) => void
}) {
  const styles = useStyles()
  const [names, setNames] = useState('')
  const { step, state, ready, databases } = statusOf(migration)
  const isHeld = databases.some(({ message }) => differencesIn(message).length > 0)
  const question = isHeld ? migrationTexts.waitsHeld : migrationTexts.waitsFor[step]
  const waits = state === 'WaitingForUserAction' && question !== undefined
  const answer = (text: string, properties: Properties, primary = true) => (
    <Button
      appearance={primary ? 'primary' : 'secondary'}
      disabled={busy}
      onClick={() => onAnswer(properties)}
    >
      {text}
    </Button>
  )
  return (
    <>
      {waits && <Text weight="semibold">{question}</Text>}
      {ready.length > 0 && <Text>{migrationTexts.cutoverLead}</Text>}
      <div className={styles.actions}>
        {step === 'WaitingForDBsToMigrateSpecification' && (
          <>
            <Field label={migrationTexts.names}>
              <Input value={names} onChange={(_, { value }) => setNames(value)} />
            </Field>
            {answer(migrationTexts.nameThem, {
              dbsToMigrate: names
                .split(',')
                .map((one) => one.trim())
                .filter(Boolean),
            })}
          </>
        )}
        {step === 'WaitingForLogicalReplicationSetupRequestOnSourceDB' &&
          answer(migrationTexts.setUp, { setupLogicalReplicationOnSourceDbIfNeeded: 'True' })}
        {step === 'WaitingForTargetDBOverwriteConfirmation' &&
          answer(migrationTexts.overwrite, { overwriteDbsInTarget: 'True' })}
        {['WaitingForDataMigrationScheduling', 'WaitingForDataMigrationWindow'].includes(step) &&
          answer(migrationTexts.start, { startDataMigration: 'True' })}
        {ready.length > 0 &&
          answer(migrationTexts.cutover(ready.join(', ')), {
            triggerCutover: 'True',
            dbsToTriggerCutoverOn: ready,
          })}
        {answer(migrationTexts.cancel, { cancel: 'True' }, false)}
      </div>
    </>
  )
}

function Database({
  database,
  progress,
  lines,
  onCatchUp,
}: {
  readonly database: DatabaseState
  readonly progress: Progress | undefined
  readonly lines: readonly Line[]
  readonly onCatchUp: (() => void) | undefined
}) {
  const styles = useStyles()
  const {
    databaseName: name,
    migrationState,
    migrationOperation,
    message,
    appliedChanges,
  } = database
  const done = database.fullLoadCompletedTables ?? 0
  const all =
    done +
    (database.fullLoadErroredTables ?? 0) +
    (database.fullLoadLoadingTables ?? 0) +
    (database.fullLoadQueuedTables ?? 0)
  const isCopied = ['Succeeded', 'WaitingForCutoverTrigger'].includes(migrationState)
  const differences = differencesIn(message)
  const facts = [
    all > 0 ? migrationTexts.tablesDone(done, all) : '',
    appliedChanges === undefined || appliedChanges === 0
      ? ''
      : migrationTexts.changes(appliedChanges),
    database.latency === undefined ? '' : migrationTexts.latency(database.latency),
    progress?.bytesBehind === undefined
      ? ''
      : migrationTexts.behind(sizeText(progress.bytesBehind)),
  ]
  const applied = lines.filter((line) => line.name === migrationTexts.applied)
  const copying = lines.filter((line) => line.name !== migrationTexts.applied)
  return (
    <Card title={name}>
      <div className={styles.head}>
        <State value={migrationState} />
        <Text>{migrationOperation}</Text>
      </div>
      <Share name={name} copied={progress} done={isCopied} />
      <Text className={styles.soft}>{facts.filter((fact) => fact !== '').join(' · ')}</Text>
      <Lines
        lines={copying}
        label={migrationTexts.rates}
        textOf={(value) => migrationTexts.rate(sizeText(value))}
      />
      <Lines
        lines={applied}
        label={migrationTexts.applied}
        textOf={(value) => migrationTexts.rate(value.toFixed(1))}
      />
      {differences.length > 0 ? (
        <section aria-label={migrationTexts.heldTitle} className={styles.list}>
          <Text weight="semibold">{migrationTexts.heldTitle}</Text>
          <Text>{migrationTexts.held}</Text>
          <ul className={styles.differences}>
            {differences.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
          {onCatchUp !== undefined && (
            <div>
              <Button onClick={onCatchUp}>{migrationTexts.catchUp}</Button>
            </div>
          )}
        </section>
      ) : (
        message !== undefined && <Text className={styles.soft}>{message}</Text>
      )}
      {(progress?.tables ?? []).some(({ state }) => state !== 'completed') && (
        <ul className={styles.list} aria-label={migrationTexts.tables}>
          {progress?.tables
            .filter(({ state }) => state !== 'completed')
            .map((table) => (
              <li key={table.name}>
                <div className={styles.head}>
                  <Text size={200} className={styles.name}>
                    <bdi>{table.name}</bdi>
                  </Text>
                  <State value={table.state} />
                </div>
                <Share name={table.name} copied={table} done={false} />
              </li>
            ))}
        </ul>
      )}
    </Card>
  )
}

function Share({
  name,
  copied,
  done,
}: {
  readonly name: string
  readonly copied: Pick<Progress, 'bytesCopied' | 'bytesTotal' | 'bytesPerSecond'> | undefined
  readonly done: boolean
}) {
  const styles = useStyles()
  if (copied === undefined && !done) return null
  const total = copied?.bytesTotal ?? 0
  // Sizes on disk and on the wire differ: until the end the bar stays below 100 %.
  const share = total === 0 ? 0 : Math.min(0.99, (copied?.bytesCopied ?? 0) / total)
  return (
    <Field
      validationState="none"
      validationMessage={
        done || copied === undefined
          ? undefined
          : `${migrationTexts.copied(sizeText(copied.bytesCopied), sizeText(total))}, ${migrationTexts.rate(sizeText(copied.bytesPerSecond))}`
      }
    >
      <ProgressBar
        className={styles.name}
        aria-label={migrationTexts.progressOf(name)}
        thickness="large"
        value={done ? 1 : share}
      />
    </Field>
  )
}
