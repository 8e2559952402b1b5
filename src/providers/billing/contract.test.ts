/** The stored types under the contract that every type is put through. */

import { resourceContract } from '#plane/testing/resource-contract.ts'
import { startBilling } from './testing/start.ts'

const started = await startBilling()
const own = started.registry.types.filter(({ namespace }) => namespace === 'Vendor.Billing')
resourceContract(own, () => startBilling())
await started[Symbol.asyncDispose]()
