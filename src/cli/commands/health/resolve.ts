/** `health resolve`: ends an event. */

import { stepCommand } from '../../health.ts'

export const command = stepCommand(
  'resolve',
  'The event is over',
  "health resolve AB12CD34 --summary 'It was a full disk.'",
)
