/** All entities of the business application, in the order of the service document. */

import { accessRights } from './entities/access-rights.ts'
import { accounts, postingAccounts, trialBalances } from './entities/accounts.ts'
import { companies } from './entities/companies.ts'
import { companyInformation } from './entities/company-information.ts'
import { currencies } from './entities/currencies.ts'
import { currencyExchangeRates } from './entities/currency-exchange-rates.ts'
import { customerPaymentJournals, customerPayments } from './entities/customer-payments.ts'
import { customers } from './entities/customers.ts'
import { items, itemUnitsOfMeasure, itemVariants } from './entities/items.ts'
import {
  customerLedgerEntries,
  generalLedgerEntries,
  itemLedgerEntries,
  taxEntries,
} from './entities/ledger-entries.ts'
import { locations } from './entities/locations.ts'
import { numberSeries } from './entities/number-series.ts'
import { outboxEntries } from './entities/outbox-entries.ts'
import { paymentMethods, paymentTerms, shipmentMethods } from './entities/payment-terms.ts'
import { agedAccountsReceivables, customerFinancialDetails } from './entities/receivables.ts'
import { salesCreditMemos, salesInvoices, salesQuotes } from './entities/sales-documents.ts'
import { salesCreditMemoLines, salesInvoiceLines, salesQuoteLines } from './entities/sales-lines.ts'
import { taxAreas, taxGroups, taxRates } from './entities/taxes.ts'
import { unitsOfMeasure } from './entities/units-of-measure.ts'
import { createModel, type Model } from './entity.ts'

export const businessModel: Model = createModel([
  companies,
  companyInformation,
  customers,
  items,
  itemVariants,
  itemUnitsOfMeasure,
  accounts,
  postingAccounts,
  numberSeries,
  trialBalances,
  generalLedgerEntries,
  customerLedgerEntries,
  taxEntries,
  itemLedgerEntries,
  unitsOfMeasure,
  taxAreas,
  taxGroups,
  taxRates,
  currencies,
  currencyExchangeRates,
  locations,
  paymentTerms,
  paymentMethods,
  shipmentMethods,
  salesInvoices,
  salesInvoiceLines,
  salesQuotes,
  salesQuoteLines,
  salesCreditMemos,
  salesCreditMemoLines,
  customerPayments,
  customerPaymentJournals,
  customerFinancialDetails,
  agedAccountsReceivables,
  outboxEntries,
  accessRights,
])
