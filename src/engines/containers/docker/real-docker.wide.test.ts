/** The promises of a container engine on a real Docker. */

import { programsContract } from '../contract/programs.ts'
import { containerEngineContract } from '../contract.ts'
import { openDocker } from '../testing/backends.ts'
import { requireDocker } from '../testing/docker.ts'

containerEngineContract('docker (Docker)', openDocker, requireDocker)
programsContract('docker (Docker)', openDocker, requireDocker)
