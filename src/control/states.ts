/**
 * Named states of an installation, saved and restored while it runs, together with its clock where that can be
 * moved.
 */

import type { MovedClock } from './moved-clock.ts'
import type { SavedState, Snapshots } from './snapshots.ts'
import { type Restored, restoreState, type StateOptions, saveState } from './state.ts'

export interface States {
  list(): readonly SavedState[]
  save(name: string): Promise<SavedState>
  /** Restores all or nothing. Afterwards every cache is empty and engines are reconciled. */
  restore(name: string): Promise<Restored>
  remove(name: string): void
  /** The state itself, for export. */
  read(name: string): Uint8Array
  write(name: string, content: Uint8Array): SavedState
}

export function openStates(
  options: Omit<StateOptions, 'clock'> & {
    readonly snapshots: Snapshots
    readonly clock: Pick<MovedClock, 'state' | 'restore' | 'betweenMoves'> | undefined
    /** Empties caches of the store and lets engines reconcile. */
    forget(): Promise<void>
  },
): States {
  const { snapshots, clock } = options
  const stateOptions: StateOptions = { ...options, clock: () => clock?.state() }
  const restore = async (name: string): Promise<Restored> => {
    const restored = await restoreState(stateOptions, snapshots.read(name))
    if (restored.clock !== undefined) clock?.restore(restored.clock)
    await options.forget()
    return restored
  }
  return {
    list: () => snapshots.list(),
    save: async (name) => snapshots.write(name, await saveState(stateOptions)),
    restore: (name) =>
      clock === undefined ? restore(name) : clock.betweenMoves(() => restore(name)),
    remove: (name) => snapshots.remove(name),
    read: (name) => snapshots.read(name),
    write: (name, content) => snapshots.write(name, content),
  }
}
