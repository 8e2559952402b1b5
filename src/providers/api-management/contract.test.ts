/** Services, workspaces, APIs and operations under the contract that every type is put through. */

import { contractWords } from '#kernel/vendor.ts'
import { createRegistry } from '#plane/registry.ts'
import { resourceContract } from '#plane/testing/resource-contract.ts'
import { apiManagementProvider } from './provider.ts'
import { startApis } from './testing/start.ts'

resourceContract(createRegistry([apiManagementProvider()], contractWords).types, startApis)
