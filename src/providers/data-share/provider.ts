/** The namespace `DataShare`: sharing that copies, from an account of one subscription to one of another. */

import type { CopyEngine } from '#engines/copy/engine.ts'
import { defineProvider, type Provider } from '#plane/define.ts'
import type { World } from '#plane/world.ts'
import { consumerInvitations } from './consumer-invitations/resource.ts'
import { dataSetMappings } from './data-set-mappings/resource.ts'
import { consumerSourceDataSets } from './data-set-mappings/source-data-sets.ts'
import { dataSets } from './data-sets/resource.ts'
import { shareErrors } from './errors.ts'
import { invitations } from './invitations/resource.ts'
import { openGrants } from './ledger/grants.ts'
import { openRuns } from './ledger/runs.ts'
import { accounts, shares, synchronizationSettings } from './plain-types.ts'
import { providerShareSubscriptions } from './provider-share-subscriptions/resource.ts'
import { startRunner } from './runs/runner.ts'
import { createWakes, type Places, type ShareParts } from './share-parts.ts'
import { shareSubscriptions } from './share-subscriptions/resource.ts'
import { operationResults } from './synchronizations/operation-results.ts'
import { triggers } from './triggers/resource.ts'

export interface DataShareParts extends World {
  readonly engine: CopyEngine
  readonly places: Places
}

export function dataShareProvider(given: DataShareParts): Provider {
  const { sql, clock } = given
  const parts: ShareParts = {
    ...given,
    reader: given.services.reader,
    grants: openGrants(sql, clock),
    runs: openRuns(sql, clock),
    wakes: createWakes(),
    stir: { look: () => undefined },
  }
  return defineProvider({
    namespace: 'DataShare',
    alikeVersions: ['2018-11-01-preview', '2019-11-01', '2020-09-01', '2020-10-01-preview'],
    description: 'Sharing that copies, with the details of every synchronization.',
    errorFamily: 'data-share',
    errors: shareErrors.entries,
    types: [
      accounts(parts),
      shares(parts),
      dataSets(parts),
      invitations(parts),
      synchronizationSettings(),
      providerShareSubscriptions(parts),
      shareSubscriptions(parts),
      consumerSourceDataSets(parts),
      dataSetMappings(parts),
      triggers(parts),
      operationResults(parts),
      ...consumerInvitations(parts),
    ],
    start: () => startRunner(parts),
  })
}
