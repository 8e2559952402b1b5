import { setTimeout as sleep } from 'node:timers/promises'
import { requireOrSkip } from '../../../../tests/require.ts'
import type { Backend } from '../contract/fixture.ts'
import { containerEngineContract } from '../contract.ts'
import { KubernetesEngine } from './kubernetes-engine.ts'
import { namesOf } from './names.ts'
import { ApiDouble } from './testing/api-double.ts'
import { programVariable } from './testing/kubelet.ts'

/** The fake cluster's clock runs this many times as fast as the real one. */
const speed = 20

async function openPlayed(): Promise<Backend> {
  const begin = performance.now()
  const clock = { now: () => 1_000_000_000_000 + (performance.now() - begin) * speed }
  const double = await ApiDouble.open(clock, 1000 / speed)
  return {
    open: (installation) => new KubernetesEngine({ target: double.target, installation }),
    image: 'example/web:1',
    unknownImage: 'example/no-such:1',
    program: (program) => ({
      command: [],
      environment: [{ name: programVariable, value: JSON.stringify(program) }],
    }),
    pass: () => sleep(10),
    now: () => clock.now(),
    async breakSandbox(installation, group) {
      const { name } = namesOf(installation, group)
      double.kubelet.evict(double.objects.get('pods', name))
    },
    [Symbol.asyncDispose]: () => double[Symbol.asyncDispose](),
  }
}

/**
 * Tests of the suite for engines that leave pulling, starting and keeping to their caller. Each has a counterpart
 * in `kubernetes-behaviour.test.ts`, except those that are `refused`, which a test checks.
 */
const otherwise: Readonly<Record<string, string>> = {
  'an image in no registry cannot be pulled, one that is there need not be':
    'pullsByItself: the nodes pull, and tell nobody what they have',
  'all that is made carries the labels, and no other installation sees it':
    'counts Docker’s objects; here they are a Pod, a Service and Secrets',
  'create makes parts in order and starts none; start starts them': 'startsByItself',
  'stop ends everything, keeps the log, and lasts; running again makes it anew':
    'keepsStopped is false',
  'another hash is in the way until it is removed, then it is replaced':
    'startsByItself and keepsStopped: the steps are stop, create, settled',
  'restart gives a part another run, once for each run it is asked about':
    'a cluster restarts containers by itself; asking is refused',
  'a missing image is absent at create': 'pullsByItself: the part waits with the cluster’s reason',
  'a host port has one holder; the other waits until it is free':
    'each Service has an address of its own; a node port is the test that fits',
  'statistics are of the running parts': 'stats is refused',
}

containerEngineContract('kubernetes, against a played API', openPlayed, requireOrSkip, otherwise)
