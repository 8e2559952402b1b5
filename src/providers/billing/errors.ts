/** The refusals of this provider. */

import { defineErrors } from '#kernel/error.ts'

export const billingErrors = defineErrors({
  InvalidBillingAccountName: {
    status: 400,
    message:
      "The billing account name '{name}' is invalid: expected digits, 'PCN.' with letters and digits, a GUID, or a GUID, a colon, a GUID, '_' and a date (2024-01-31). Pattern: {pattern}",
    advice: 'User: `GET …/billingAccounts` lists the names.',
  },
  InvalidInvoiceName: {
    status: 400,
    message:
      "The invoice name '{name}' is invalid: expected G, H, T or HT with nine capital letters or digits, D with nine, E with nine (no A behind it), EA with eight, or H, a digit and '-' with capital letters or digits. Pattern: {pattern}",
    advice: 'User: `GET …/invoices` lists the names.',
  },
  InvalidFilter: {
    status: 400,
    message: 'The filter is invalid: {reason}.',
    advice: 'User: the message says where and what was expected.',
  },
  InvalidOrderBy: {
    status: 400,
    message: 'The orderBy is invalid: {reason}.',
    advice: 'User: the message says where and what was expected.',
  },
  OrderTooExpensive: {
    status: 400,
    message:
      "Too many transactions for the orderBy '{order}': {reason}. Narrow the filter, or order by other fields first.",
    advice: 'User: order by one field, or filter to at most {limit} transactions.',
  },
  CountTooExpensive: {
    status: 400,
    message: 'More than {limit} transactions would have to be read to count: leave `count` out.',
    advice: 'User: leave `count` out, or filter by what describes the product.',
  },
  PeriodTooLong: {
    status: 400,
    message: 'The period covers more than {limit} invoices: ask for a shorter one.',
    advice: 'User: narrow `periodStartDate` and `periodEndDate`.',
  },
  RefundTooLarge: {
    status: 409,
    message:
      "The transaction '{name}' can be refunded up to {rest} {currency} before tax; {asked} was asked for.",
    advice: 'User: refund at most what is left.',
  },
  NotRefundable: {
    status: 409,
    message: "The transaction '{name}' cannot be refunded: it charged nothing.",
    advice: 'User: refund the transaction that charged.',
  },
  TransactionNameTaken: {
    status: 409,
    message: "There is a transaction '{name}' already, and it says something else.",
    advice: 'User: a name is used once; leave it out to be given one.',
  },
  ProductNotFound: {
    status: 400,
    message: "The billing account has no product '{name}'.",
    advice: 'User: `GET …/products` lists them.',
  },
  ImportOutOfStep: {
    status: 409,
    message:
      "The import '{name}' goes on at byte {position} (digest {digest}), not where this part begins.",
    advice: 'User: go on from there, or give another file another name.',
  },
  DownloadExpired: {
    status: 404,
    message: 'The download is not there any more: ask for a new one.',
    advice: 'User: POST transactionsDownload again, or download.',
  },
  InvoiceDocumentNotFound: {
    status: 404,
    message: "The invoice '{invoice}' has no document '{name}'.",
    advice: 'User: `properties.documents` of the invoice names the one that it has.',
  },
  NothingToInvoice: {
    status: 409,
    message: "The billing profile '{profile}' has no pending transactions up to {through}.",
    advice: 'User: nothing to do.',
  },
  UsageChargedElsewhere: {
    status: 409,
    message: "Usage is not charged to the billing profile '{profile}', but to '{charged}'.",
    advice: 'User: charge it there.',
  },
})

export const refuseBilling: typeof billingErrors.refuse = billingErrors.refuse
