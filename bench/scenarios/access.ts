/** Access decisions: ours beside a loop, casbin and Cedar, at a thousand to a hundred thousand assignments. */

import { ours } from '../decisions/ours.ts'
import { casbin, cedar, naive } from '../decisions/peers.ts'
import type { Scenario } from '../scenario.ts'

export const scenario: Scenario = {
  kind: 'decide',
  title: 'Decisions',
  about:
    'One question after the other in one process: users in groups, scopes three deep, one assignment in ten with a condition. All answers are compared; a difference ends the run.',
  sizes: [1000, 10_000, 100_000],
  deciders: [ours, naive, casbin, cedar],
}
