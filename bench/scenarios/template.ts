/** The template language alone: how many expressions of each kind it evaluates per second. */

import { measureExpressions } from '../expressions/measure.ts'
import type { Scenario } from '../scenario.ts'

export const scenario: Scenario = {
  kind: 'figures',
  title: 'Expressions of templates',
  about:
    'Typical expressions by kind, those first that published templates hold most of; evaluated when they were ' +
    'read before, and read each time anew.',
  async measure(name, measuring) {
    return {
      rows: measureExpressions(name, measuring),
      skipped: [],
      notes: [
        {
          contestant: 'Armature',
          note: 'in one process, one expression after the other, each within its own budget of work',
        },
      ],
    }
  },
}
