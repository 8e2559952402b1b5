/** The resource contract on the sample types: it must be possible to pass it and to fail it. */

import { contractWords } from '#kernel/vendor.ts'
import { createRegistry } from '../registry.ts'
import { resourceContract, type Subject } from './resource-contract.ts'
import { SampleEngine } from './sample-engine.ts'
import { sampleProviders } from './sample-provider.ts'
import { nobody, owner, startPlane } from './start.ts'

async function open(): Promise<Subject & AsyncDisposable> {
  const started = await startPlane()
  return {
    registry: started.plane.registry,
    call: (method, path, body, { stranger, ...options } = {}) =>
      started.call(method, path, body, { ...options, as: stranger === true ? nobody : owner }),
    async settle() {
      await started.plane.reconciler.idle()
    },
    [Symbol.asyncDispose]: () => started[Symbol.asyncDispose](),
  }
}

resourceContract(createRegistry(sampleProviders(new SampleEngine()), contractWords).types, open)
