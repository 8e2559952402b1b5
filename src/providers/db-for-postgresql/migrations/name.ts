/** The contract's rule of names: `^[a-z][a-z0-9]*$`. The length is ours. */

import type { NameRule } from '#plane/define.ts'
import { refusePostgres } from '../errors.ts'

const rule = '1 to 63 lower-case letters and digits, a letter first'

export const migrationName: NameRule = {
  pattern: /^[a-z][a-z0-9]{0,62}$/,
  rule,
  refuse: (name) => refusePostgres.InvalidInput({ name, rule }),
}
