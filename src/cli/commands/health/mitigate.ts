/** `health mitigate`: ends the impact in some regions or in all. */

import { stepCommand } from '../../health.ts'

export const command = stepCommand(
  'mitigate',
  'The impact has ended, in some regions or in all',
  "health mitigate AB12CD34 --region 'West US' --summary 'Traffic was moved.'",
)
