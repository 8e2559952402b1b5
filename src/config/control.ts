/**
 * Settings of what the owner may do to the installation: move its clock, save and restore its state, inject faults.
 */

import { choice } from './setting.ts'

export interface ControlConfig {
  /** From where the owner may call the operations below `/_armature/`: nowhere, this machine, or any address. */
  readonly control: 'off' | 'local' | 'anywhere'
  /** `manual`: the clock can be moved. */
  readonly clock: 'system' | 'manual'
}

export const controlSettings = {
  control: choice(['off', 'local', 'anywhere'], {
    default: 'off',
    description:
      'Operations on the installation itself, below `/_armature/`, for its owner alone: move its clock, keep and bring back its state, let requests fail. `local` answers callers on this machine that come through no proxy, `anywhere` every address. Leave it off where others depend on it.',
  }),
  clock: choice(['system', 'manual'], {
    default: 'system',
    description:
      'Whose time it is. `manual` begins at the machine’s and can be stopped, set, advanced and made faster (`armature clock`); it is that of one process, and a start begins at the machine’s time again.',
  }),
}
