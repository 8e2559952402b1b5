/** What a customer owes, moved by what is posted and paid. Refuses what its column could not hold. */

import { decimalMax, decimalUnit } from '../entity.ts'
import { ruleBroken } from '../errors.ts'
import type { WriteContext } from '../write/rows.ts'

/** What a column may come to hold by adding to it, see `fits`. */
export const amountMax: number = decimalMax * decimalUnit

export async function moveBalance(
  { tx }: WriteContext,
  customerId: string,
  by: number,
): Promise<void> {
  const moved = await tx.run(
    `update business_customers set balance_due = balance_due + ?, revision = revision + 1
       where id = ? and abs(balance_due + ?) <= ${amountMax}`,
    by,
    customerId,
    by,
  )
  if (moved === 0) throw ruleBroken('What the customer owes would have more than ten digits.')
}
