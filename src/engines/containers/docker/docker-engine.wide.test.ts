import { requireOrSkip } from '../../../../tests/require.ts'
import { programsContract } from '../contract/programs.ts'
import { openPodman } from '../testing/backends.ts'

programsContract('docker (Podman)', openPodman, requireOrSkip)
