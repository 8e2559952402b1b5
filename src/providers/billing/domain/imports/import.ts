/**
 * Imports: a file in pieces, each recorded together with how far the file has come, in one transaction. So a piece
 * sent twice is recorded once, and whoever was cut off goes on where the answer says.
 */

import Type, { type Static } from 'typebox'
import { refuse } from '#kernel/error.ts'
import { nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import type { Action } from '#plane/declare/action.ts'
import { added } from '#plane/declare/added.ts'
import { asResource } from '#plane/declare/answers.ts'
import { nextTurn } from '#plane/next-turn.ts'
import type { SqlTx } from '#stores/store.ts'
import { refuseBilling } from '../../errors.ts'
import { profileIdOf } from '../ids.ts'
import type { NewEntry } from '../ledger/entry.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { record } from '../ledger/record.ts'
import { formatRecorder, moment } from '../ledger/show.ts'
import { keysOf, lockAccount, type ProfilePlace } from '../ledger/statements.ts'
import { columnsOf, type ImportState, imports } from '../tables.ts'
import { profileFacts } from '../transactions/charge.ts'
import { transactionReader } from '../transactions/read-transaction.ts'
import { columnOf, type ImportFormat, importFormats, readRecords } from './formats.ts'

/** Stores cannot hold it in text. */
const withoutNul = '^[^\\u0000]*$'

const importBody = (textMax: number) =>
  Type.Object({
    name: Type.String({ pattern: '^[a-zA-Z0-9_.-]{1,128}$' }),
    format: Type.Enum([...importFormats]),
    header: Type.Optional(
      Type.String({
        maxLength: 20_000,
        pattern: withoutNul,
        description: 'The first line of a CSV file.',
      }),
    ),
    position: Type.Integer({ minimum: 0, description: 'Bytes of the file before this piece.' }),
    digest: Type.String({
      maxLength: 100,
      pattern: withoutNul,
      description: 'Of those bytes, as the sender made it; empty at the start.',
    }),
    nextPosition: Type.Integer({ minimum: 0 }),
    nextDigest: Type.String({ maxLength: 100, pattern: withoutNul }),
    firstLine: Type.Integer({ minimum: 1, maximum: 1_000_000_000_000 }),
    text: Type.String({
      maxLength: textMax,
      description: 'Whole records: a piece begins and ends between two.',
    }),
    completed: Type.Optional(Type.Boolean()),
  })
type ImportPiece = Static<ReturnType<typeof importBody>>

interface Refused {
  readonly line: number
  readonly column: string
  readonly reason: string
}

export const stateColumns = columnsOf(imports)
export const ofImport = 'account_key = ? and profile_key = ? and name_key = ?'

export const importAnswer = Type.Object({
  properties: Type.Object({
    format: Type.Enum([...importFormats]),
    position: Type.Integer(),
    digest: Type.String(),
    lines: Type.Integer(),
    recorded: Type.Integer(),
    present: Type.Integer(),
    refused: Type.Integer(),
    completed: Type.Boolean(),
    createdAt: Type.String(),
    changedAt: Type.String(),
  }),
})
export const refusalAnswer = Type.Object({
  line: Type.Integer(),
  column: Type.String(),
  reason: Type.String(),
})

export function importTransactions(ledger: Ledger): Action<object> {
  return {
    method: 'POST',
    description: 'Import a piece of a file of transactions',
    body: importBody(ledger.limits.importTextMax),
    answer: added(
      asResource(Type.Object({ ...importAnswer.properties, refused: Type.Array(refusalAnswer) })),
    ),
    async run(context, piece: never) {
      const profile = await profileFacts(context.reader, context.id)
      const asked: Piece = {
        ledger,
        place: profile.place,
        given: piece,
        now: context.now,
        currency: profile.currency,
        profileName: profile.displayName,
        recordedBy: formatRecorder(context.principal),
      }
      const { state, refused } = await importChunk(asked)
      return {
        status: 200,
        body: { ...showImport(ledger.words, profile.place, state), refused },
      }
    },
  }
}

interface Piece {
  readonly ledger: Ledger
  readonly place: ProfilePlace
  readonly given: ImportPiece
  readonly now: number
  readonly currency: string
  readonly profileName: string
  readonly recordedBy: string
}

async function importChunk(
  piece: Piece,
): Promise<{ readonly state: ImportState; readonly refused: readonly Refused[] }> {
  const { ledger, place, given, now } = piece
  const keys = [...keysOf(place), given.name.toLowerCase()] as const
  // Read before the transaction, which keeps that short.
  const { entries, lines, refused: unfit } = await readPiece(piece)
  const outcome = await ledger.sql.transact(async (tx) => {
    await lockAccount(tx, place.account)
    await begin(tx, piece, keys)
    const [row] = await tx.all(
      `select ${stateColumns}, header from billing_imports where ${ofImport}`,
      ...keys,
    )
    if (row === undefined) throw new Error('an import was begun and is not there')
    const before = imports.row(row)
    if (
      before.position !== given.position ||
      before.digest !== given.digest ||
      before.format !== given.format
    ) {
      throw refuseBilling.ImportOutOfStep({
        name: before.name,
        position: before.position,
        digest: before.digest === '' ? 'none' : before.digest,
      })
    }
    const options = { place, now, mayBePresent: true }
    const recording = await record(tx, ledger.dimensions, entries, options)
    const refused = [
      ...unfit,
      ...recording.refused.map(({ index, path, reason }) => ({
        line: lines[index] ?? given.firstLine,
        column: columnOf(given.format as ImportFormat, path),
        reason,
      })),
    ].sort((a, b) => a.line - b.line)
    await keep(tx, keys, refused, { before: before.refused, max: ledger.limits.refusalsKeptMax })
    const state: ImportState = {
      ...before,
      position: given.nextPosition,
      digest: given.nextDigest,
      lines: before.lines + given.text.split('\n').length - (given.text.endsWith('\n') ? 1 : 0),
      recorded: before.recorded + recording.recorded,
      present: before.present + recording.present,
      refused: before.refused + refused.length,
      completed: given.completed === true,
      changedAt: now,
    }
    await tx.run(
      `update billing_imports set position = ?, digest = ?, lines = ?, recorded = ?, present = ?,
         refused = ?, completed = ?, changed_at = ? where ${ofImport}`,
      state.position,
      state.digest,
      state.lines,
      state.recorded,
      state.present,
      state.refused,
      state.completed ? 1 : 0,
      now,
      ...keys,
    )
    return { recording, state, refused }
  })
  outcome.recording.committed()
  return outcome
}

interface ReadPiece {
  readonly entries: readonly NewEntry[]
  /** The line of each entry. */
  readonly lines: readonly number[]
  readonly refused: readonly Refused[]
}

/** The characters of records read before other requests get a turn; each record adds a constant. */
const charactersPerTurn = 16 * 1024
const ownCharacters = 128

async function readPiece(piece: Piece): Promise<ReadPiece> {
  const { ledger, place, given, currency, profileName, recordedBy } = piece
  const entries: NewEntry[] = []
  const lines: number[] = []
  const refused: Refused[] = []
  const format = given.format as ImportFormat
  const readTransaction = transactionReader({
    words: ledger.words,
    currency,
    profileName,
    recordedBy,
    file: `${place.account}/${place.profile}/${given.name}`.toLowerCase(),
    sharedDimension: (spelling, make) => ledger.dimensions.shared(spelling, make),
  })
  const max = ledger.limits.importRecordsMax
  // A record may have line ends in its texts; when most line ends are in texts, it is no file of transactions.
  if (linesIn(given.text, 10 * max) >= 10 * max) throw tooMany(max)
  let count = 0
  let sinceTurn = 0
  for (const one of readRecords(format, given.header ?? '', given.text, given.firstLine)) {
    if (++count > max) throw tooMany(max)
    sinceTurn += one.length + ownCharacters
    if (sinceTurn >= charactersPerTurn) {
      sinceTurn = 0
      await nextTurn()
    }
    if ('reason' in one) {
      refused.push({ line: one.line, column: one.column, reason: one.reason })
      continue
    }
    const read = readTransaction(one.transaction, one.line)
    if (read.ok) {
      entries.push(read.entry)
      lines.push(one.line)
      continue
    }
    const [fault] = read.faults
    refused.push({
      line: one.line,
      column: columnOf(format, fault?.path ?? ''),
      reason: read.faults
        .map(({ path, reason }) => `${columnOf(format, path)}: ${reason}`)
        .join('; '),
    })
  }
  return { entries, lines, refused }
}

/** The number of line ends, counted up to `max`. */
function linesIn(text: string, max: number): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0 && count < max; at = text.indexOf('\n', at + 1)) count++
  return count
}

function tooMany(max: number): Error {
  return refuse.InvalidRequestContent(
    { reason: `at most ${max} records come in one piece; cut the file into more of them.` },
    { target: 'text' },
  )
}

async function begin(
  tx: SqlTx,
  { given, now }: Piece,
  keys: readonly [string, string, string],
): Promise<void> {
  await tx.run(
    `insert into billing_imports (account_key, profile_key, name_key, name, format, header,
       position, digest, lines, recorded, present, refused, completed, created_at, changed_at)
     values (?, ?, ?, ?, ?, ?, 0, '', 0, 0, 0, 0, 0, ?, ?) on conflict do nothing`,
    ...keys,
    given.name,
    given.format,
    given.header ?? '',
    now,
    now,
  )
}

async function keep(
  tx: SqlTx,
  keys: readonly [string, string, string],
  refused: readonly Refused[],
  { before, max }: { readonly before: number; readonly max: number },
): Promise<void> {
  for (const { line, column, reason } of refused.slice(0, Math.max(0, max - before))) {
    await tx.run(
      `insert into billing_import_refusals (account_key, profile_key, name_key, line, place, reason)
       values (?, ?, ?, ?, ?, ?) on conflict do nothing`,
      ...keys,
      line,
      column.replaceAll('\0', '').slice(0, 200),
      reason.replaceAll('\0', '').slice(0, 1000),
    )
  }
}

export function showImport(words: VendorWords, place: ProfilePlace, state: ImportState): object {
  const { name, createdAt, changedAt, ...properties } = state
  return {
    id: `${profileIdOf(words, place)}/imports/${name}`,
    name,
    type: qualify(words, 'Billing/billingAccounts/billingProfiles/imports'),
    properties: { ...properties, createdAt: moment(createdAt), changedAt: moment(changedAt) },
  }
}

export function placeOf(profile: ResourceId): ProfilePlace {
  return { account: nameOf(parentOf(profile)), profile: nameOf(profile) }
}
