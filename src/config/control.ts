/** Settings of what an owner may do to the installation itself: move its clock, keep and bring back its state, break it. */

import { choice } from './setting.ts'

export interface ControlConfig {
  /** Who may ask the operations below `/_armature/`, besides being the owner: nobody, this machine, or any address. */
  readonly control: 'off' | 'local' | 'anywhere'
  /** `manual`: the clock can be moved. */
  readonly clock: 'system' | 'manual'
}

export const controlSettings = {
  control: choice(['off', 'local', 'anywhere'], {
    default: 'off',
    description:
      'Operations on the installation itself, below `/_armature/`, for its owner alone: move its clock, keep and bring back its state, let requests fail. `local` answers callers on this machine, `anywhere` every address. Leave it off where others depend on it.',
  }),
  clock: choice(['system', 'manual'], {
    default: 'system',
    description:
      'Whose time it is. `manual` begins at the machine’s and can be stopped, set, advanced and made faster (`armature clock`); it is that of one process, and a start begins at the machine’s time again.',
  }),
}
