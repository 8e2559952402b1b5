/** What `migration watch` draws, asks and understands: the pure parts. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/property.ts'
import {
  choicesFor,
  emptyPrompt,
  handleKey,
  type PromptDecision,
  promptLines,
  waitReason,
} from './migration-choices.ts'
import { changeLines, progressLines, progressOf } from './migration-progress.ts'
import { type MigrationStatus, statusOf } from './migrations.ts'

function status(
  state: string,
  subState: string,
  databases: Readonly<Record<string, object>> = {},
  more: object = {},
): MigrationStatus {
  const dbDetails = Object.fromEntries(
    Object.entries(databases).map(([name, one]) => [name, { databaseName: name, ...one }]),
  )
  return statusOf({
    name: 'move',
    properties: {
      migrationMode: 'Online',
      currentStatus: { state, currentSubStateDetails: { currentSubState: subState, dbDetails } },
      ...more,
    },
  })
}

const waits = (subState: string, databases = {}, more = {}): MigrationStatus =>
  status('WaitingForUserAction', subState, databases, more)
const ready = {
  migrationState: 'WaitingForCutoverTrigger',
  migrationOperation: 'ReplicatingChanges',
}
const copying = { migrationState: 'InProgress', migrationOperation: 'CopyingTables' }

/** Everything that is printed about these keys. */
function said(now: MigrationStatus, keys: string): readonly (PromptDecision | string)[] {
  let talk = emptyPrompt
  const all: (PromptDecision | string)[] = []
  for (const key of keys) {
    const heard = handleKey(talk, key, choicesFor(now))
    talk = heard.talk
    if (heard.said !== undefined) all.push(heard.said)
    if (talk.complaint !== '') all.push(talk.complaint)
  }
  return all
}

const patch = (properties: object): PromptDecision => ({ kind: 'patch', properties })

test('each wait is answered by the property that belongs to it', () => {
  const both = waits('WaitingForCutoverTrigger', { one: ready, two: ready })
  const taken = waits('WaitingForTargetDBOverwriteConfirmation', { one: { message: 'is there' } })
  const source = 'WaitingForLogicalReplicationSetupRequestOnSourceDB'
  const cases: readonly [MigrationStatus, string, readonly (PromptDecision | string)[]][] = [
    [both, 'a', [patch({ triggerCutover: 'True' })]],
    [both, 'A', [patch({ triggerCutover: 'True' })]],
    [both, 'stwo\r', [patch({ triggerCutover: 'True', dbsToTriggerCutoverOn: ['two'] })]],
    [
      both,
      'sone,tw\u007fwo\n',
      [patch({ triggerCutover: 'True', dbsToTriggerCutoverOn: ['one', 'two'] })],
    ],
    [both, 'sthree\r', ['three is not among them']],
    [both, 's \r', ['no name was typed']],
    [both, 'stwo\u001ba', [patch({ triggerCutover: 'True' })]],
    [both, 'xyes\r', [patch({ cancel: 'True' })]],
    [both, 'xno\r', ['nothing was done']],
    [both, 'q', [{ kind: 'leave' }]],
    [both, 'sone\u0003', [{ kind: 'leave' }]],
    [both, 'z\r', []],
    [
      waits('WaitingForCutoverTrigger', { one: ready, two: ready, three: copying }),
      'a',
      [patch({ triggerCutover: 'True', dbsToTriggerCutoverOn: ['one', 'two'] })],
    ],
    [status('InProgress', 'MigratingData', { one: copying }), 'axq', []],
    [taken, 'oyes\r', [patch({ overwriteDbsInTarget: 'True' })]],
    [taken, 'oyeah\r', ['nothing was done']],
    [waits(source), 'l', [patch({ setupLogicalReplicationOnSourceDbIfNeeded: 'True' })]],
    [waits(source, {}, { setupLogicalReplicationOnSourceDbIfNeeded: 'True' }), 'l', []],
    [
      waits('WaitingForDBsToMigrateSpecification'),
      'da, b\r',
      [patch({ dbsToMigrate: ['a', 'b'] })],
    ],
    [waits('WaitingForDataMigrationScheduling'), 'n', [patch({ startDataMigration: 'True' })]],
    [
      waits('WaitingForDataMigrationWindow'),
      'w2030-01-31T22:00:00Z\r',
      [patch({ migrationWindowStartTimeInUtc: '2030-01-31T22:00:00Z' })],
    ],
    [status('Succeeded', 'Completed', { one: ready }), 'a', []],
  ]
  for (const [now, keys, expected] of cases) assert.deepEqual(said(now, keys), expected, keys)
})

test('any keys only ever say what is offered, and cutting off or dropping takes more than one', () => {
  const taken = waits('WaitingForTargetDBOverwriteConfirmation', { one: { message: 'is there' } })
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'oxqyes\r\u001b\u007f') }), (keys) => {
      for (const one of said(taken, keys)) {
        if (typeof one === 'string' || one.kind === 'leave') continue
        assert.ok(keys.includes('yes\r') || keys.includes('\u007f'), keys)
      }
    }),
  )
})

test('what it waits for is shown, unless it goes on by itself or has been answered', () => {
  assert.match(
    waitReason(waits('WaitingForCutoverTrigger', { one: ready })) ?? '',
    /cutover of one/,
  )
  assert.equal(waitReason(waits('WaitingForDataMigrationWindow')), undefined)
  assert.equal(waitReason(status('InProgress', 'MigratingData')), undefined)
  const answered = { overwriteDbsInTarget: 'True' }
  const overwrite = 'WaitingForTargetDBOverwriteConfirmation'
  assert.equal(waitReason(waits(overwrite, {}, answered)), undefined)
  assert.match(waitReason(waits('SomethingNew')) ?? '', /SomethingNew/)
  const now = waits('WaitingForCutoverTrigger', { one: ready, two: ready })
  const asked = handleKey(emptyPrompt, 's', choicesFor(now)).talk
  const typed = handleKey(asked, 'o', choicesFor(now)).talk
  assert.equal(promptLines(now, typed, choicesFor(now)).at(-1), 'Names, with commas of one, two: o')
})

const copied = (name: string, bytesCopied: number, state = 'loading') => ({
  name,
  state,
  bytesTotal: 1000 * 1024,
  bytesCopied: bytesCopied * 1024,
  bytesPerSecond: 10 * 1024,
})

test('bars: a line for each database and each table that is being copied, with rate and time left', () => {
  const now = status('InProgress', 'MigratingData', {
    one: {
      ...copying,
      fullLoadCompletedTables: 1,
      fullLoadLoadingTables: 1,
      fullLoadQueuedTables: 5,
    },
    two: { ...ready, appliedChanges: 7, latency: 2 },
  })
  const tables = [
    copied('public.a', 250),
    copied('public.b', 1500),
    copied('public.c', 0, 'queued'),
  ]
  const answer = progressOf({
    message: '',
    databases: [
      { ...copied('one', 500), phase: 'copying', tables },
      { name: 'two', phase: 'replicating', bytesBehind: 2048, tables: [] },
    ],
  })
  assert.deepEqual(progressLines(now, answer, { rows: 20, columns: 200 }), [
    'move: Online, InProgress / MigratingData',
    '  [############------------] one CopyingTables: 500.0 KiB of about 1000.0 KiB, 10.0 KiB/s, 50 s left, table 1 of 7',
    '    [######------------------] public.a loading: 250.0 KiB of about 1000.0 KiB, 10.0 KiB/s, 75 s left',
    '    [########################] public.b loading: 1.5 MiB of about 1000.0 KiB, 10.0 KiB/s',
    '  [########################] two ReplicatingChanges: 7 changes applied, 2 s behind, 2.0 KiB to go',
  ])
  for (const line of progressLines(now, answer, { rows: 20, columns: 40 })) {
    assert.ok(line.length <= 40)
  }
  assert.equal(progressLines(now, answer, { rows: 4, columns: 80 }).length, 3, 'tables give way')
  assert.match(
    progressLines(
      now,
      { ...answer, message: 'the source is away\n' },
      { rows: 20, columns: 80 },
    ).at(-1) ?? '',
    /^! the source is away\\u000a$/,
  )
})

test('more databases than lines are counted', () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`db${at}`, copying]))
  const lines = progressLines(
    status('InProgress', 'MigratingData', many),
    { message: '', databases: [] },
    { rows: 10, columns: 80 },
  )
  assert.equal(lines.length, 10)
  assert.equal(lines.at(-1), '… and 42 more databases')
})

test('without a terminal only changes are shown', () => {
  const first = status('InProgress', 'MigratingData', { one: copying })
  assert.deepEqual(changeLines(undefined, first), [
    'move: Online, InProgress / MigratingData',
    '  one InProgress CopyingTables',
  ])
  assert.deepEqual(changeLines(first, first), [])
  const next = status('InProgress', 'MigratingData', { one: { ...ready, message: 'flows' } })
  assert.deepEqual(changeLines(first, next), [
    '  one WaitingForCutoverTrigger ReplicatingChanges: flows',
  ])
  const waits = status('InProgress', 'MigratingData', { one: { ...ready, message: 'waits' } })
  assert.deepEqual(changeLines(next, waits), [
    '  one WaitingForCutoverTrigger ReplicatingChanges: waits',
  ])
})
