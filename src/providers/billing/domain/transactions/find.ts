/** Reads one transaction by its id, and changes its tags. */

import { refuseProblems } from '#kernel/error.ts'
import { nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import { isUuid } from '#kernel/uuid.ts'
import type { GetContext } from '#plane/declare/computed.ts'
import { entriesOf } from '../ledger/entries.ts'
import type { Entry } from '../ledger/entry.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { entryColumns, rowOf } from '../ledger/scan.ts'
import { formatRecorder, showEntry } from '../ledger/show.ts'
import { accountOfEntry, listStatements } from '../ledger/statements.ts'
import { tagsOf } from './list.ts'
import { transactionTagProblems } from './tags.ts'

export async function findEntry(ledger: Ledger, id: ResourceId): Promise<Entry | undefined> {
  const name = nameOf(id).toLowerCase()
  if (!isUuid(name)) return undefined
  const profile = nameOf(parentOf(id))
  const account = nameOf(parentOf(parentOf(id)))
  const [found] = await ledger.sql.all(
    `select ${entryColumns} from billing_entries where name = ? and ${accountOfEntry} = ? limit 1`,
    name,
    account.toLowerCase(),
  )
  if (found === undefined) return undefined
  const row = rowOf(found)
  const before = row.statementId + 1
  const [statement] = await listStatements(ledger.sql, { account, profile, before, limit: 1 })
  // Of another profile otherwise.
  if (statement?.id !== row.statementId) return undefined
  const [entry] = await entriesOf(ledger, [row], new Map([[statement.id, statement]]))
  return entry
}

export async function showTransaction(ledger: Ledger, entry: Entry): Promise<object> {
  const tags = await tagsOf(ledger, [entry])
  return showEntry(ledger.words, entry, tags.get(entry.row.id))
}

export async function patchTags(
  ledger: Ledger,
  context: GetContext,
  tags: unknown,
): Promise<object | undefined> {
  const problems = transactionTagProblems(tags)
  if (problems.length > 0) throw refuseProblems(problems)
  const entry = await findEntry(ledger, context.id)
  if (entry === undefined) return undefined
  await ledger.sql.transact((tx) =>
    tx.run(
      `insert into billing_tags (entry_id, tags, changed_at, changed_by) values (?, ?, ?, ?)
       on conflict (entry_id) do update set tags = excluded.tags,
         changed_at = excluded.changed_at, changed_by = excluded.changed_by`,
      entry.row.id,
      JSON.stringify(tags),
      context.now,
      formatRecorder(context.principal),
    ),
  )
  return showTransaction(ledger, entry)
}
