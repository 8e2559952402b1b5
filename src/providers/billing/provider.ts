/** The namespace `Billing`: a ledger of transactions, where they come from, and the invoices they end up on. */

import Type from 'typebox'
import { parseResourceId, type ResourceId } from '#kernel/resource-id.ts'
import type { UsageMeter } from '#kernel/usage.ts'
import type { Action } from '#plane/declare/action.ts'
import type { Provider } from '#plane/declare/provider.ts'
import type { ProviderContext } from '#plane/provider-context.ts'
import { billingVersion, entities } from './entities/resources.ts'
import { billingErrors, refuseBilling } from './errors.ts'
import { accountIdOf } from './ids.ts'
import { imports, importTransactions } from './imports/import.ts'
import { closeStatements } from './invoices/close.ts'
import { invoices } from './invoices/resource.ts'
import { openLedger } from './ledger/ledger.ts'
import { monthOf } from './ledger/statements.ts'
import { type BillingLimits, defaultBillingLimits } from './limits.ts'
import { startBackground } from './metering/background.ts'
import { openMeter } from './metering/meter.ts'
import { rateUsage } from './metering/rate.ts'
import { profileFacts, recordCredit, recordPurchase, refund } from './transactions/charge.ts'
import { transactions } from './transactions/resources.ts'

export type BillingDependencies = Pick<
  ProviderContext,
  'words' | 'sql' | 'clock' | 'ids' | 'timers' | 'log' | 'sealOf' | 'publicUrl' | 'tenantId'
> & {
  readonly services: Pick<ProviderContext['services'], 'reader' | 'seed'>
  readonly limits?: Partial<BillingLimits>
}

/** Where those who run things tell what ran. */
export function usageMeter({ sql }: Pick<ProviderContext, 'sql'>): UsageMeter {
  return openMeter(sql)
}

/** What an installation charges for from the start: what containers hold, by the hour. */
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
    async run(context, { through }: { readonly through?: string }) {
      const { place } = await profileFacts(reader, context.id)
      const month = through ?? monthOf(context.now)
      const closed = await closeStatements(deps.sql, place, month, context.now)
      if (closed.length === 0) {
        throw refuseBilling.NothingToInvoice({ profile: place.profile, through: month })
      }
      return { status: 200, body: { value: closed } }
    },
  }
  const chargeUsage: Action<object> = {
    method: 'POST',
    description: 'Charge what ran up to now, without waiting for the end of the day',
    async run(context) {
      await profileFacts(reader, context.id)
      // Usage is charged to the installation's own profile.
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
      ...entities({
        account: {},
        profile: {
          recordPurchase: recordPurchase({ ledger, ids }),
          recordCredit: recordCredit({ ledger, ids }),
          importTransactions: importTransactions(ledger),
          closeInvoices,
          chargeUsage,
        },
      }),
      ...transactions(ledger, { refund: refund({ ledger, ids }) }),
      ...invoices({
        ledger,
        seal: deps.sealOf('billing-downloads'),
        defaultAccount: deps.tenantId,
        publicUrl: () => deps.publicUrl(),
      }),
      ...imports(ledger),
    ],
    forget() {
      ledger.dimensions.forget()
      ledger.known.forget()
    },
    start: () => startBackground({ ...rating, clock, timers: deps.timers, log: deps.log, seed }),
  }
}

function idOf(path: string): ResourceId {
  const found = parseResourceId(path)
  if (found === undefined) throw new Error(`not an id: ${path}`)
  return found
}
