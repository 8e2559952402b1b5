/** `health annotate`: adds a note for readers of an event. */

import { stepCommand } from '../../health.ts'

export const command = stepCommand(
  'annotate',
  'Tell those who follow an event something',
  "health annotate AB12CD34 --summary 'We look into it.'",
)
