/** The launcher that tests start servers and commands with: that of the bundles if the runner made them. */

import { join } from 'node:path'

export const launcher =
  process.env['ARMATURE_TEST_LAUNCHER'] ?? join(import.meta.dirname, '..', 'bin', 'armature.mjs')
