/** Container groups: created on Podman beside its own command line, simulated by the thousand, and their logs. */

import { measureRealGroups } from '../containers/real-groups.ts'
import { measureSimulatedGroups } from '../containers/simulated-groups.ts'
import type { Scenario } from '../scenario.ts'

export const scenario: Scenario = {
  kind: 'figures',
  title: 'Container groups',
  about:
    'Groups of two containers with limits in one network, on a throwaway Podman: from the first PUT to the ' +
    'last group Running, ten at once, against the same containers made by `podman run`, one command after ' +
    'the other, in turns; ratios are to the commands, less is better. Then 1,000 simulated groups, and logs.',
  async measure(name, measuring) {
    const real = await measuring.processors.onAll(() => measureRealGroups(name, measuring))
    const skipped = typeof real === 'string' ? [`groups on Podman, and logs: ${real}`] : []
    for (const one of skipped) measuring.progress(`${name}: not measured: ${one}`)
    const simulated = await measureSimulatedGroups(name, measuring)
    return {
      rows: [...(typeof real === 'string' ? [] : real), ...simulated],
      skipped,
      notes: [
        {
          contestant: 'podman commands',
          note: 'three per group, each a process of its own, on every processor; done when the last has returned',
        },
        {
          contestant: 'Armature',
          note: 'one server over the socket of the same Podman, on every processor; a write is on the disk, the caller checked; done when a GET shows Running, looked for every 10 ms',
        },
        {
          contestant: 'simulated',
          note: 'no container runs; the reconciler, the store and the engine’s files do. Processor time is told in steps of 0.1 %',
        },
        {
          contestant: 'logs',
          note: 'growth is the most seen during the reads over what was there before them, five reads made beforehand; one reader',
        },
      ],
    }
  },
}
