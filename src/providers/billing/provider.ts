/** The namespace `Billing`: a ledger of transactions, their sources, and their invoices. */

import Type from 'typebox'
import { parseResourceId, type ResourceId } from '#kernel/resource-id.ts'
import type { UsageMeter } from '#kernel/usage.ts'
import type { Action } from '#plane/declare/action.ts'
import { added } from '#plane/declare/added.ts'
import { pageOfItems } from '#plane/declare/answers.ts'
import type { Provider } from '#plane/declare/provider.ts'
import type { ProviderContext } from '#plane/provider-context.ts'
import { billingVersion } from './domain/entity.ts'
import { accountIdOf } from './domain/ids.ts'
import { importTransactions } from './domain/imports/import.ts'
import { type ClosedInvoice, closeStatements } from './domain/invoices/close.ts'
import type { InvoicePrinter } from './domain/invoices/page.ts'
import { openLedger } from './domain/ledger/ledger.ts'
import { monthOf } from './domain/ledger/statements.ts'
import { type BillingLimits, defaultBillingLimits } from './domain/limits.ts'
import { startBackground } from './domain/metering/background.ts'
import { openMeter } from './domain/metering/meter.ts'
import { rateUsage } from './domain/metering/rate.ts'
import { profileFacts, recordCredit, recordPurchase, refund } from './domain/transactions/charge.ts'
import { billingErrors, refuseBilling } from './errors.ts'
import { absentFromBilling } from './resources/absent/resource.ts'
import { accountCustomers } from './resources/account-customers/resource.ts'
import { billingAccounts } from './resources/billing-accounts/resource.ts'
import { billingPermissions } from './resources/billing-permissions/resource.ts'
import { billingProfiles } from './resources/billing-profiles/resource.ts'
import {
  billingProperty,
  billingSubscriptions,
} from './resources/billing-subscriptions/resource.ts'
import { customers } from './resources/customers/resource.ts'
import { imports } from './resources/imports/resource.ts'
import { invoiceSections } from './resources/invoice-sections/resource.ts'
import { invoices } from './resources/invoices/resource.ts'
import { products } from './resources/products/resource.ts'
import { transactions } from './resources/transactions/resource.ts'

export type BillingDependencies = Pick<
  ProviderContext,
  'words' | 'sql' | 'clock' | 'ids' | 'timers' | 'log' | 'sealOf' | 'publicUrl' | 'tenantId'
> & {
  readonly services: Pick<ProviderContext['services'], 'reader' | 'seed'>
  readonly limits?: Partial<BillingLimits>
  readonly printer?: InvoicePrinter
}

/** The port for reporting runs. */
export function usageMeter({ sql }: Pick<ProviderContext, 'sql'>): UsageMeter {
  return openMeter(sql)
}

/** What a new installation charges for: what containers reserve, by the hour. */
const firstProducts: Readonly<Record<string, object>> = {
  'container-cpu': {
    displayName: 'Container group, vCPU',
    productFamily: 'Containers',
    productType: 'Container groups',
    unitOfMeasure: '1 Hour',
    unitType: 'vCPU',
    price: { currency: 'USD', value: 0.0405 },
    meter: 'containerGroups/cpu',
  },
  'container-memory': {
    displayName: 'Container group, memory',
    productFamily: 'Containers',
    productType: 'Container groups',
    unitOfMeasure: '1 Hour',
    unitType: 'GB',
    price: { currency: 'USD', value: 0.00445 },
    meter: 'containerGroups/memory',
  },
}

export function billingProvider(deps: BillingDependencies): Provider {
  const { words, services, ids, clock } = deps
  const ledger = openLedger(deps.sql, words, { ...defaultBillingLimits, ...deps.limits })
  const account = accountIdOf(words, deps.tenantId)
  const profile = idOf(`${account}/billingProfiles/default`)
  const { reader } = services
  const rating = { ledger, ids, reader, profile }
  const seed = async (): Promise<void> => {
    const put = (path: string, properties: object): Promise<void> =>
      services.seed(path, billingVersion, { properties })
    await put(account, { displayName: 'This installation', accountType: 'Business' })
    await put(profile.text, { displayName: 'Default', currency: 'USD' })
    await put(`${profile.text}/invoiceSections/default`, { displayName: 'Default' })
    for (const [name, product] of Object.entries(firstProducts)) {
      await put(`${account}/products/${name}`, product)
    }
  }
  const closeInvoices: Action<object> = {
    method: 'POST',
    description: 'Make invoices of what is pending',
    body: Type.Object({
      through: Type.Optional(
        Type.String({ pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$', description: 'The last month.' }),
      ),
    }),
    answer: added(pageOfItems(Type.Object({ invoice: Type.String(), month: Type.String() }))),
    async run(context, { through }: { readonly through?: string }) {
      const { place } = await profileFacts(reader, context.id)
      const month = through ?? monthOf(context.now)
      const closed: ClosedInvoice[] = []
      try {
        for await (const some of closeStatements(deps.sql, place, month, context.now)) {
          closed.push(...some)
          // Nobody waits any more: what is left is for the next time.
          if (context.signal?.aborted === true) break
        }
      } catch (error) {
        // No later answer tells what is closed already.
        if (closed.length === 0) throw error
        deps.log.warn({ error: String(error) }, 'closing stopped before its end')
      }
      if (closed.length === 0) {
        throw refuseBilling.NothingToInvoice({ profile: place.profile, through: month })
      }
      return { status: 200, body: { value: closed } }
    },
  }
  const chargeUsage: Action<object> = {
    method: 'POST',
    description: 'Charge what ran up to now, without waiting for the end of the day',
    answer: added(Type.Object({ charges: Type.Integer() })),
    async run(context) {
      await profileFacts(reader, context.id)
      // The right was checked at the profile of the path, so no other may be charged.
      if (context.id.key !== profile.key) {
        throw refuseBilling.UsageChargedElsewhere({
          profile: context.id.text,
          charged: profile.text,
        })
      }
      const charges = await rateUsage(rating, context.now, context.now)
      return { status: 200, body: { charges } }
    },
  }
  return {
    namespace: 'Billing',
    compatibleVersions: [
      '2018-11-01-preview',
      '2019-10-01-preview',
      '2020-05-01',
      '2020-09-01',
      '2020-11-01-preview',
      '2021-10-01',
      '2022-10-01-preview',
      '2023-04-01',
    ],
    description: 'What things cost: transactions, invoices, prices, usage.',
    errors: billingErrors.entries,
    types: [
      billingAccounts,
      billingProfiles({
        recordPurchase: recordPurchase({ ledger, ids }),
        recordCredit: recordCredit({ ledger, ids }),
        importTransactions: importTransactions(ledger),
        closeInvoices,
        chargeUsage,
      }),
      invoiceSections,
      customers,
      products,
      ...transactions(ledger, { refund: refund({ ledger, ids }) }),
      ...invoices({
        ledger,
        seal: deps.sealOf('billing-downloads'),
        defaultAccount: deps.tenantId,
        publicUrl: () => deps.publicUrl(),
        ...(deps.printer === undefined ? {} : { printer: deps.printer }),
      }),
      ...imports(ledger),
      billingSubscriptions(profile),
      billingProperty(profile),
      accountCustomers(),
      ...billingPermissions(),
      ...absentFromBilling(),
    ],
    forget() {
      // The state after the first start may be older than its first account.
      return seed()
    },
    start: () => startBackground({ ...rating, clock, timers: deps.timers, log: deps.log, seed }),
  }
}

function idOf(path: string): ResourceId {
  const found = parseResourceId(path)
  if (found === undefined) throw new Error(`not an id: ${path}`)
  return found
}
