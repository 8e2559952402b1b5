/** The schema of the store itself, step by step. A new step is a new file at the end; none is ever changed. */

import type { Migration } from '../../store.ts'
import { initial } from './0001-initial.ts'
import { activity } from './0002-activity.ts'

export const coreMigrations: readonly Migration[] = [initial, activity]
