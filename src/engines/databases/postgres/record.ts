/**
 * The durable record of a migration: a folder with the requests and the progress, each file replaced as a whole.
 * Only the worker that has the lock writes `state.json`, or one that cannot take it where nobody else writes; only its caller
 * writes the others. No file holds a secret.
 */

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '#files/replace-file.ts'
import { shortWords } from '#kernel/short-words.ts'
import {
  type ComparedTable,
  DatabaseEngineError,
  type DatabasePhase,
  type MigrationSpec,
  type ObservedDatabase,
  type PendingCleanUp,
  type ReportedTable,
} from '../engine.ts'

/** A replica identity that must be restored. */
export interface ReplacedIdentity {
  /** Quoted, ready for SQL. */
  readonly table: string
  /** `d` default, `n` nothing, `i` an index that is gone. */
  readonly previous: string
}

export interface SilencedTrigger {
  /** Quoted, ready for SQL. */
  readonly table: string
  readonly name: string
  readonly fires: 'ALWAYS' | 'REPLICA'
}

/** Sums of the servers' row counters. */
export interface RowCounts {
  readonly inserts: number
  readonly updates: number
  readonly deletes: number
}

/** Nothing moves; the slot does not move; the target runs out of room. */
export type Noticed = 'silence' | 'slot' | 'room'

/** One database, as its worker knows it; written before each effect. */
export interface DatabaseRecord {
  observed: ObservedDatabase
  /** Changed at the source for the online phase, to be restored. */
  identities: readonly ReplacedIdentity[]
  /** The source's `default_transaction_read_only` of this database before the fence; null for none. */
  fence: { readonly previous: string | null } | undefined
  /** Since when writers are kept out, until the target can be used. */
  fencedAt: number | undefined
  /** The cutover has dropped the subscription, or was about to: it can only go forward. */
  pastReturn: boolean
  /** False when the target lacks roles that own or may use things. */
  owners: boolean
  /** The target's server lacks a compression that columns of the source use. */
  leavesCompression: boolean
  /** This migration created the target database, which may hold data. */
  made: boolean
  /** The old target database of that name, which is kept, and whether it allowed connections. */
  replaced: { readonly isOpen: boolean } | undefined
  /** The clean-up has restored it. */
  isPutBack: boolean
  /** The final phase after the clean-up. */
  outcome: 'failed' | 'canceled' | undefined
  /** Database settings that the target refuses, and why. */
  leftOut: readonly string[]
  /** Other things of the source that are left out, and why. */
  setAside: readonly string[]
  /** Triggers of the target that would fire for replicated changes, disabled for the online phase. */
  triggers: readonly SilencedTrigger[]
  /** Tables of the source, quoted, whose rows at the target are not reliable: they are copied again. */
  resync: readonly string[]
  /** The handled part of `Intents.catchUp`. */
  caughtUp: number
  /** What catch-ups brought to the target (`keyOf`): the source may drop it again. Absent in the record of an earlier version. */
  carried: readonly string[] | undefined
  /** The handled part of `Intents.retry`. */
  retried: number
  /** The current obstacles, by the watch that found each. */
  warnings: Readonly<Partial<Record<Noticed, string>>>
  /** When both servers last answered in the online phase. */
  lookedAt: number
  /** What the last catch-up could not carry over. */
  notCarried: readonly string[]
  /** Why it is starting over; undefined while it is not. */
  startOverReason: string | undefined
  /** It failed before its copy was complete. */
  dropOnFailure: boolean
  /** When counting began, and the counts before the target lost its statistics. */
  sourceBase: RowCounts | undefined
  targetBase: RowCounts | undefined
  targetCarried: RowCounts
  targetLast: RowCounts
  pending: readonly PendingCleanUp[]
}

export interface MigrationState {
  databases: DatabaseRecord[]
  message: string
  updatedAt: number
  /** Whether the roles step is done. */
  rolesDone: boolean
  ended: boolean
  worker: ProcessIdentity | undefined
}

/** A process, distinguishable from a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number
  /** The system's start time of the process; empty when the system has none. */
  readonly started: string
}

/** Requests of the caller; they only grow. */
export interface Intents {
  readonly cutover: readonly string[]
  readonly cancel: readonly string[]
  readonly dropTarget: readonly string[]
  /** How often it was requested for each database. */
  readonly catchUp: Readonly<Record<string, number>>
  readonly retry: Readonly<Record<string, number>>
}

const noIntents: Intents = { cutover: [], cancel: [], dropTarget: [], catchUp: {}, retry: {} }

/** The largest file: that of a hundred thousand tables. Earlier versions wrote a state as large. */
const fileBytesMax = 32 * 1024 * 1024
/** What a database may make of the state, which observers read as a whole, twice a second. A hundred thousand tables have room. */
const stateBytesUsual = 16 * 1024 * 1024

const wordsMax = 100
/** Of what a server says, in records and reports. */
export const wordsCharactersMax = 300
const notListed = 'more, which is not listed'

/** Each once, and few of them: servers say as much as they like, and records and reports are read as a whole. */
export function fewWords(words: readonly string[]): readonly string[] {
  const all = [...new Set(words.map((one) => shortWords(one, wordsCharactersMax)))]
  return all.length <= wordsMax ? all : [...all.slice(0, wordsMax - 1), notListed]
}

const refusalCharactersMax = 4_000

const privateFolder = 0o700

/** What a report has room for, and how many tables there are. */
export interface ShownTables {
  readonly tables: readonly ReportedTable[]
  readonly all: number
}

/** Between writes of a worker that is at work there is much less. */
const renewedMilliseconds = 10_000

/** The files of one migration. */
export class RecordFolder {
  readonly path: string
  private readonly stateBytesMax: number

  constructor(path: string, stateBytesMax = stateBytesUsual) {
    this.path = path
    this.stateBytesMax = stateBytesMax
  }

  make(): void {
    mkdirSync(this.path, { recursive: true, mode: privateFolder })
  }

  file(name: string): string {
    return join(this.path, name)
  }

  readSpec(): MigrationSpec | undefined {
    return this.read<MigrationSpec>('spec.json')
  }

  writeSpec(spec: MigrationSpec): void {
    this.write('spec.json', spec, true)
  }

  readIntents(): Intents {
    // A file of an earlier version may lack newer members.
    return { ...noIntents, ...this.read<Partial<Intents>>('intents.json') }
  }

  writeIntents(intents: Intents): void {
    this.write('intents.json', intents, true)
  }

  /** One that is too large to be read tells no more what its databases have: they fail, and what has a name is removed. */
  readState(): MigrationState | undefined {
    try {
      return this.read<MigrationState>('state.json')
    } catch (error) {
      if (!(error instanceof DatabaseEngineError)) throw error
      const { message } = error
      return {
        databases: (this.readSpec()?.databases ?? []).map((name) => lostRecord(name, message)),
        message: '',
        updatedAt: Math.floor(statSync(this.file('state.json')).mtimeMs),
        rolesDone: true,
        ended: false,
        worker: undefined,
      }
    }
  }

  /** A worker is at it, perhaps of another machine: it writes several times in a second. */
  isRenewed(now: number, state = this.readState()): boolean {
    return state?.ended === false && Math.abs(now - state.updatedAt) < renewedMilliseconds
  }

  /**
   * `durable`: on disk when this returns, for what must be known after a crash. `grown`: the database whose work is
   * refused where the state is too large. One that has no more than its part of a half of it goes on beside large ones.
   */
  writeState(state: MigrationState, durable: boolean, grown?: DatabaseRecord): void {
    const part = this.stateBytesMax / 2 / state.databases.length
    const isLarge = grown !== undefined && Buffer.byteLength(JSON.stringify(grown)) > part
    this.write('state.json', state, durable, isLarge ? this.stateBytesMax : fileBytesMax)
  }

  readSpawned(): ProcessIdentity | undefined {
    return this.read<ProcessIdentity>('worker.json')
  }

  writeSpawned(process: ProcessIdentity): void {
    this.write('worker.json', process, false)
  }

  /** Why a worker cannot take the lock, and with it the record. */
  readRefusal(): string {
    return this.read<{ readonly message: string }>('refusal.json')?.message ?? ''
  }

  writeRefusal(message: string): void {
    const words = shortWords(message, refusalCharactersMax)
    if (words !== this.readRefusal()) this.write('refusal.json', { message: words }, false)
  }

  readTables<T extends ComparedTable | ReportedTable>(name: string): readonly T[] {
    return this.read<readonly T[]>(name) ?? []
  }

  writeTables(name: string, tables: readonly (ComparedTable | ReportedTable)[]): void {
    this.write(name, tables, false)
  }

  readShown(name: string): ShownTables | undefined {
    return this.read<ShownTables>(name)
  }

  writeShown(name: string, shown: ShownTables): void {
    this.write(name, shown, false)
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true })
  }

  private read<T>(name: string): T | undefined {
    let text: string
    try {
      if (statSync(this.file(name)).size > fileBytesMax) throw tooLarge(fileBytesMax)
      text = readFileSync(this.file(name), 'utf8')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
      throw error
    }
    // Only this class writes it, in one piece.
    return JSON.parse(text) as T
  }

  /** Refused where it is too large: what is there stays. */
  private write(name: string, value: object, isDurable: boolean, bytesMax = fileBytesMax): void {
    const text = JSON.stringify(value)
    if (Buffer.byteLength(text) > bytesMax) throw tooLarge(bytesMax)
    replaceFile(this.file(name), text, { isDurable })
  }
}

function tooLarge(bytesMax: number): DatabaseEngineError {
  return new DatabaseEngineError(
    'refused',
    `The record of the migration has more than ${bytesMax / 2 ** 20} MB: it names too many things of its servers, or things with names that are too long.`,
  )
}

/** Tokens that have a folder. */
export function recordedMigrations(root: string): readonly string[] {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

/** A value of `caughtUp`: something was altered during the copy, so a catch-up runs without a request. */
export const toBeCaughtUp = -1

const noCounts: RowCounts = { inserts: 0, updates: 0, deletes: 0 }

export function freshRecord(name: string, attempt: number): DatabaseRecord {
  return {
    observed: {
      name,
      phase: 'queued',
      attempt,
      startedAt: undefined,
      endedAt: undefined,
      message: '',
      warning: '',
      number: undefined,
      counters: {
        fullLoadQueuedTables: 0,
        fullLoadLoadingTables: 0,
        fullLoadCompletedTables: 0,
        fullLoadErroredTables: 0,
        incomingChanges: 0,
        appliedChanges: 0,
        cdcInsertCounter: 0,
        cdcUpdateCounter: 0,
        cdcDeleteCounter: 0,
        latencySeconds: undefined,
      },
      bytesTotal: 0,
      bytesCopied: 0,
      bytesPerSecond: 0,
      tables: [],
      bytesBehind: undefined,
      walHeldBytes: undefined,
      pauseMilliseconds: undefined,
      verified: undefined,
    },
    identities: [],
    fence: undefined,
    fencedAt: undefined,
    pastReturn: false,
    owners: true,
    leavesCompression: false,
    made: false,
    replaced: undefined,
    isPutBack: false,
    outcome: undefined,
    leftOut: [],
    setAside: [],
    resync: [],
    caughtUp: 0,
    carried: [],
    retried: 0,
    warnings: {},
    lookedAt: 0,
    notCarried: [],
    startOverReason: undefined,
    triggers: [],
    dropOnFailure: false,
    sourceBase: undefined,
    targetBase: undefined,
    targetCarried: noCounts,
    targetLast: noCounts,
    pending: [],
  }
}

/** Its cutover may be behind it, so nothing at the target is dropped. */
function lostRecord(name: string, why: string): DatabaseRecord {
  const record = freshRecord(name, 1)
  const message = `${why} How far the database was is not known: its copy stays as it is, perhaps incomplete. The database of the source may still only read, and its tables may have REPLICA IDENTITY FULL.`
  return {
    ...record,
    observed: { ...record.observed, phase: 'cleaning-up', message },
    made: true,
    pastReturn: true,
    outcome: 'failed',
  }
}

/** Phases whose work is lost with the snapshot: a crash in one starts the database over (facts A.8). */
const lostWithSnapshot: ReadonlySet<DatabasePhase> = new Set([
  'preparing',
  'schema',
  'copying',
  'indexing',
  'finishing',
])

export function startsOver(phase: DatabasePhase): boolean {
  return lostWithSnapshot.has(phase)
}
