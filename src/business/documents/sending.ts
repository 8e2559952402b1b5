/** Sending a document: noted on it, and a mail with it as a PDF put into the outbox, in the transaction of the action. */

import { findRow } from '#query/rows.ts'
import { badValue, ruleBroken } from '../errors.ts'
import { Budget } from '../odata/budget.ts'
import { addressesIn } from '../outbox/addresses.ts'
import { addEntry } from '../outbox/entries.ts'
import type { DocumentRow } from '../tables.ts'
import * as tables from '../tables.ts'
import { updateRow, type WriteContext } from '../write/rows.ts'
import { type Printed, readPrinted } from './printed.ts'
import { wordsOf } from './printed-words.ts'

/** The document's own address, or else what its customer has now. Refused before anything is posted where there is none. */
export async function addresseesOf(
  { tx }: WriteContext,
  { email, bill_to_customer_id: id }: DocumentRow,
): Promise<readonly string[]> {
  const text = email || ((await findRow(tx, tables.customers, { id }))?.email ?? '')
  if (text === '') {
    throw badValue(
      'email',
      'the document has no address to be sent to; set it, or that of the customer.',
    )
  }
  const addresses = addressesIn(text)
  if (addresses === undefined) {
    throw badValue('email', `'${text}' is no address of mail, nor several with commas between.`)
  }
  return addresses
}

/** The document as it stands now. `status`: what it becomes by being sent. */
export async function sendDocument(
  context: WriteContext,
  id: string,
  status?: string,
): Promise<void> {
  const { tx, companyId } = context
  await updateRow(tx, tables.documents, id, {
    sent_date: context.now,
    last_modified_date_time: context.now,
    ...(status === undefined ? {} : { status }),
  })
  const row = await findRow(tx, tables.documents, { id })
  const company = await findRow(tx, tables.companyInformation, { company_id: companyId })
  if (row === undefined || company === undefined) throw new Error('what is sent is gone')
  const sender = context.mailSender(company.email)
  if (addressesIn(sender)?.length !== 1) {
    throw ruleBroken(
      "The company has no address that mail comes from: set 'email' of its companyInformation.",
    )
  }
  const budget = Budget.ofTransaction()
  const printed = await readPrinted({ reads: tx, companyId, id, acceptLanguage: undefined, budget })
  const to = await addresseesOf(context, row)
  const name = company.display_name
  const subject = `${printed.title} ${row.number} · ${name}`
  await addEntry(
    context,
    {
      kind: 'Mail',
      sender,
      recipient: to.join(', '),
      subject,
      language: printed.language,
      document_id: id,
      document_type: types[row.kind] ?? ' ',
      document_number: row.number,
    },
    {
      from: { name, address: sender },
      replyTo: { name, address: sender === company.email ? '' : company.email },
      to: to.map((address) => ({ name: to.length === 1 ? row.bill_to_name : '', address })),
      subject,
      text: textOf(printed, row.bill_to_name),
      printed,
    },
  )
}

const types: Readonly<Record<string, string>> = {
  invoice: 'Sales Invoice',
  quote: 'Sales Quote',
  creditMemo: 'Sales Credit Memo',
}

/** What the mail says: the facts of the document, and its total. */
function textOf(printed: Printed, customer: string): string {
  const { language, title, number, company, facts, sums } = printed
  const { greeting, attached, regards, number: numberWord } = wordsOf(language)
  const shown = [
    ...facts.filter(([name]) => name !== numberWord),
    ...sums.filter(({ isTotal }) => isTotal).map(({ name, value }) => [name, value] as const),
  ]
  return [
    `${greeting} ${customer},`,
    '',
    `${attached} ${title} ${number}`,
    '',
    ...shown.map(([name, value]) => `${name}: ${value}`),
    '',
    regards,
    company,
    '',
  ].join('\n')
}
