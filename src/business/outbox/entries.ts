/**
 * Entries of the outbox: messages that a transaction wants sent. They are written in that transaction, so a message
 * is sent if and only if the transaction commits. `deliver.ts` sends them.
 */

import { insertRow } from '#query/rows.ts'
import { lockLedger } from '../documents/posting.ts'
import type { Printed } from '../documents/printed.ts'
import { ruleBroken } from '../errors.ts'
import { type OutboxRow, outboxEntries } from '../tables.ts'
import { lockRow, newId, updateRow, type WriteContext } from '../write/rows.ts'
import { checkTag, type Target } from '../write/tag.ts'

/** The content of a mail before it is composed. */
export interface MailPayload {
  readonly from: MailPerson
  /** If the address is empty, answers go to the sender. */
  readonly replyTo: MailPerson
  readonly to: readonly MailPerson[]
  readonly subject: string
  readonly text: string
  /** The content of the document at that moment. It is attached as a PDF. */
  readonly printed: Omit<Printed, 'look'> & Partial<Pick<Printed, 'look'>>
}

interface MailPerson {
  readonly name: string
  readonly address: string
}

type NewEntry = Pick<
  OutboxRow,
  | 'kind'
  | 'sender'
  | 'recipient'
  | 'subject'
  | 'language'
  | 'document_id'
  | 'document_type'
  | 'document_number'
>

/** The maximum number of mails of one company that may wait. */
const waitingMax = 1_000
const waitingBytesMax = 64 * 1024 * 1024

async function requireRoom(context: WriteContext): Promise<void> {
  // Others that send wait here, and then count this entry.
  await lockLedger(context)
  const { tx, companyId } = context
  const [waiting] = await tx.all(
    `select count(*) as entries, coalesce(sum(octet_length(payload)), 0) as bytes
      from business_outbox_entries where company_id = ? and status = 'Waiting' and kind = 'Mail'`,
    companyId,
  )
  if (Number(waiting?.['entries']) >= waitingMax || Number(waiting?.['bytes']) >= waitingBytesMax) {
    throw ruleBroken(
      `The company has as many mails as may wait to be sent: ${waitingMax}, or ${waitingBytesMax / 1024 / 1024} MB. Send this one later.`,
    )
  }
}

export async function addEntry(
  context: WriteContext,
  entry: NewEntry,
  payload: MailPayload,
): Promise<void> {
  await requireRoom(context)
  await insertRow(context.tx, outboxEntries, {
    id: newId(context),
    company_id: context.companyId,
    revision: 1,
    status: 'Waiting',
    created_at: context.now,
    due_at: context.now,
    last_modified_date_time: context.now,
    ...entry,
    payload: JSON.stringify(payload),
  })
}

/** A failed entry is tried again, from the first attempt on. */
export async function retryEntry(context: WriteContext, target: Target): Promise<void> {
  const { id } = target
  const row = await lockRow(context, outboxEntries, { id, company_id: context.companyId })
  if (row === undefined) throw new Error('a row that was resolved is gone')
  checkTag(target, row, false, context.conflictStatus)
  if (row.status !== 'Failed') {
    throw ruleBroken(
      `The entry is '${row.status}'; only one that is 'Failed' is retried.`,
      'status',
    )
  }
  await updateRow(context.tx, outboxEntries, id, {
    status: 'Waiting',
    attempts: 0,
    due_at: context.now,
    last_modified_date_time: context.now,
  })
}
