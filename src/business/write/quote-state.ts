/** Whether a quote was accepted or has expired, as its writer sets it by the date or the state. */

import { noDate } from '../entity.ts'
import { ruleBroken } from '../errors.ts'
import type { DocumentRow } from '../tables.ts'
import { today, type WriteContext } from './rows.ts'
import type { GivenFields } from './values.ts'

type QuoteDraft = Pick<
  { -readonly [K in keyof DocumentRow]: DocumentRow[K] },
  'kind' | 'status' | 'accepted_date' | 'sent_date' | 'valid_until_date'
>

/**
 * A new quote is a draft, or accepted on a day. `isNew`: the published examples send back the state they were
 * shown.
 */
export function applyQuoteState(
  context: WriteContext,
  draft: QuoteDraft,
  given: GivenFields,
  isNew: boolean,
): void {
  if (draft.kind !== 'quote') return
  const unanswered = draft.sent_date === 0 ? 'Draft' : 'Sent'
  const day = given.get('acceptedDate')?.value
  const wanted = isNew ? undefined : given.get('status')?.value
  const before = { status: draft.status, day: draft.accepted_date }
  if (typeof day === 'string' && day !== before.day) {
    draft.accepted_date = day
    draft.status = day === noDate ? unanswered : 'Accepted'
  }
  if (typeof wanted === 'string' && wanted !== before.status) {
    if (wanted === 'Sent' && draft.sent_date === 0) {
      throw ruleBroken("A quote is 'Sent' by its action send.", 'status')
    }
    draft.status = wanted
    if (wanted !== 'Accepted') draft.accepted_date = noDate
    else if (draft.accepted_date === noDate) draft.accepted_date = today(context)
  }
  const until = draft.valid_until_date
  const isOver = until !== noDate && until < today(context)
  if (!given.has('validUntilDate') || draft.status === 'Accepted') return
  if (isOver && !isNew) draft.status = 'Expired'
  else if (draft.status === 'Expired' && wanted !== 'Expired') draft.status = unanswered
}
