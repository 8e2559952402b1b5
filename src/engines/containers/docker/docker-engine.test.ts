import { requireOrSkip } from '../../../../tests/require.ts'
import { containerEngineContract } from '../contract.ts'
import { openPodman } from '../testing/backends.ts'

containerEngineContract('docker (Podman)', openPodman, requireOrSkip)
