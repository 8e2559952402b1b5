/** Vaults and secrets under the contract that every type is put through. */

import { contractWords } from '#kernel/vendor.ts'
import { createRegistry } from '#plane/registry.ts'
import { testSeal } from '#plane/testing/provider-context.ts'
import { resourceContract } from '#plane/testing/resource-contract.ts'
import { ids } from '../container-instance/testing/start.ts'
import { secretsProvider } from './provider.ts'
import { startSecrets } from './testing/start.ts'

const declared = secretsProvider({ seal: testSeal, ids })

resourceContract(createRegistry([declared], contractWords).types, () => startSecrets())
