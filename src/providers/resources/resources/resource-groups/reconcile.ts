/**
 * Deleting a group: its content goes first, a bounded part at a time. A PUT of a group has nothing to do
 * on any engine, so its states are terminal from the start and only a delete is long-running.
 */

import { groupKey } from '#kernel/resource-id.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import { defineReconciler, type Next, type Reconciler } from '#plane/declare/reconciled.ts'
import type { ResourceGroup } from './model.ts'

/**
 * Starts deleting what is below a scope, a bounded part of it, and tells what happened: `removed` went at
 * once, `remaining` is still there (counted up to a bound; what has an engine takes its time).
 */
export type EmptyScope = (
  id: Parameters<Reconciler<ResourceGroup>['observe']>[0]['id'],
) => Promise<{ readonly remaining: number; readonly removed: number }>

interface Content {
  readonly remaining: number
  readonly removed: number
}

/** Between two looks while engines still work on the content. The end of their work is heard of sooner, but can be missed. */
const waitSeconds = 1
/** Of so many groups it is remembered what is still to go. */
const rememberedMax = 1_000

export function deleteWithContent(
  emptyScope: EmptyScope,
  onSettled: PlaneServices['onSettled'],
): Reconciler<ResourceGroup> {
  const remainingByGroup = new Map<string, number>()
  return defineReconciler<ResourceGroup, Content, 'look again'>({
    deadlineSeconds: 6 * 3600,
    retryAfterSeconds: 1,
    states: { creating: 'Succeeded', updating: 'Succeeded', deleting: 'Deleting' },
    /** Asking for what is left is asking for it to go: the same call, harmless when repeated. */
    async observe({ id, desired }) {
      if (desired !== undefined) return { remaining: 0, removed: 0 }
      const { remaining, removed } = await emptyScope(id)
      if (remaining === 0) remainingByGroup.delete(id.key)
      else if (remainingByGroup.size < rememberedMax) remainingByGroup.set(id.key, remaining)
      return { remaining, removed }
    },
    next: (_subject, content) => nextLook(content),
    perform: () => Promise.resolve(),
    /** The last that goes wakes its group. */
    watchEvents(wake, signal) {
      onSettled((key) => {
        const group = groupKey(key)
        const remaining = remainingByGroup.get(group)
        if (remaining === undefined) return
        if (remaining > 1) {
          remainingByGroup.set(group, remaining - 1)
          return
        }
        remainingByGroup.delete(group)
        wake(group)
      }, signal)
    },
  })
}

/** Goes on at once while rows go at once, waits while only engines work, and ends when nothing is left. */
export function nextLook({ remaining, removed }: Content): Next<'look again', Content> {
  if (remaining === 0) return { kind: 'done' }
  if (removed > 0) return { kind: 'step', step: 'look again' }
  return { kind: 'wait', seconds: waitSeconds }
}
