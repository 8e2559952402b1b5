/** The namespace `DataShare`: sharing by copies, from an account of one subscription to one of another. */

import type { CopyEngine } from '#engines/copy/engine.ts'
import { defineProvider, type Provider } from '#plane/declare/provider.ts'
import type { ProviderContext } from '#plane/provider-context.ts'
import {
  createWakeSignals,
  type RegisteredLocations,
  type ShareDependencies,
} from './dependencies.ts'
import { startRunner } from './domain/runs/runner.ts'
import { openGrants } from './domain/store/grants.ts'
import { openRuns } from './domain/store/runs.ts'
import { shareErrors } from './errors.ts'
import { accounts } from './resources/accounts/resource.ts'
import { consumerInvitations } from './resources/consumer-invitations/resource.ts'
import { consumerSourceDataSets } from './resources/consumer-source-data-sets/resource.ts'
import { dataSetMappings } from './resources/data-set-mappings/resource.ts'
import { dataSets } from './resources/data-sets/resource.ts'
import { invitations } from './resources/invitations/resource.ts'
import { operationResults } from './resources/operation-results/resource.ts'
import { providerShareSubscriptions } from './resources/provider-share-subscriptions/resource.ts'
import { shareSubscriptions } from './resources/share-subscriptions/resource.ts'
import { shares } from './resources/shares/resource.ts'
import { synchronizationSettings } from './resources/synchronization-settings/resource.ts'
import { triggers } from './resources/triggers/resource.ts'

interface DataShareDependencies extends ProviderContext {
  readonly engine: CopyEngine
  readonly places: RegisteredLocations
}

export function dataShareProvider(given: DataShareDependencies): Provider {
  const { sql, clock } = given
  const deps: ShareDependencies = {
    ...given,
    reader: given.services.reader,
    isAllowed: (writer, action, scope) => given.services.isAllowed(writer, action, scope),
    grants: openGrants(sql, clock),
    runs: openRuns(sql, clock),
    wakes: createWakeSignals(),
    runner: { wake: () => undefined },
  }
  return defineProvider({
    namespace: 'DataShare',
    serviceNames: ['Data Share'],
    compatibleVersions: ['2018-11-01-preview', '2019-11-01', '2020-09-01', '2020-10-01-preview'],
    description: 'Sharing that copies, with the details of every synchronization.',
    errorFamily: 'data-share',
    errors: shareErrors.entries,
    types: [
      accounts(deps),
      shares(deps),
      dataSets(deps),
      invitations(deps),
      synchronizationSettings(),
      providerShareSubscriptions(deps),
      shareSubscriptions(deps),
      consumerSourceDataSets(deps),
      dataSetMappings(deps),
      triggers(deps),
      ...operationResults(deps),
      ...consumerInvitations(deps),
    ],
    start: () => startRunner(deps),
  })
}
