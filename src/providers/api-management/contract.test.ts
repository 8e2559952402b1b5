/** Every type of the namespace under the contract that all are put through. */

import { resourceContract } from '#plane/testing/resource-contract.ts'
import { declaredTypes, startApis } from './testing/start.ts'

resourceContract(declaredTypes(), startApis)
