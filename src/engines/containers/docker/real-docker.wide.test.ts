/** The promises of a container engine on a real Docker. */

import { requireOrSkip } from '../../../../tests/require.ts'
import type { Require } from '../contract/fixture.ts'
import { programsContract } from '../contract/programs.ts'
import { containerEngineContract } from '../contract.ts'
import { openDocker } from '../testing/backends.ts'
import { cannotStart } from '../testing/docker.ts'

/** A daemon that this machine cannot start is skipped, also where nothing else may be. */
const require: Require = (t, available, how) => {
  if (!how.startsWith(cannotStart)) return requireOrSkip(t, available, how)
  t.skip(how)
  return false
}

containerEngineContract('docker (Docker)', openDocker, require)
programsContract('docker (Docker)', openDocker, require)
