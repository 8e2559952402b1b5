/** What a deployment made, with everything nested in it: the resources that a stack manages. */

import { parseResourceId, type ResourceId } from '#kernel/resource-id.ts'
import type { Reader } from '#plane/declare/resource.ts'
import type { ActionOnUnmanage } from '../../resources/deployment-stacks/model.ts'
import type { Deployment, Progress, StepRecord } from '../../resources/deployments/model.ts'
import { isDeployment, nestedRunOf, recordOfRun } from '../deployments/kept-resources.ts'

interface Made {
  /** Ids as shown, by their keys. */
  readonly ids: ReadonlyMap<string, string>
  /** False when the record of a nested deployment is gone, so that not all are known. */
  readonly isWhole: boolean
}

/** `model` and `progress` are of the outermost deployment, which has ended. */
export async function madeBy(
  reader: Reader,
  model: Pick<Deployment, 'run'>,
  progress: Progress | undefined,
): Promise<Made> {
  const ids = new Map<string, string>()
  let isWhole = true
  const collect = async (run: string, steps: readonly StepRecord[]): Promise<void> => {
    for (const step of steps) {
      if (step.verb !== 'Create') continue
      if (!isDeployment(step.id)) {
        if (isThere(step)) ids.set(step.id.toLowerCase(), step.id)
        continue
      }
      // A refused step made nothing.
      if (step.state === 'Failed' && step.operation === undefined) continue
      const nested = nestedRunOf(run, step)
      const record = await recordOfRun(reader, step.id, nested)
      if (record?.progress === undefined) isWhole = false
      else await collect(nested, record.progress.steps)
    }
  }
  await collect(model.run, progress?.steps ?? [])
  return { ids, isWhole }
}

/** A resource whose operation failed after it was accepted exists all the same. */
function isThere({ state, operation }: StepRecord): boolean {
  return state !== 'Failed' || operation !== undefined
}

/** The unmanage action that applies to it. */
export function kindOf(id: ResourceId): keyof ActionOnUnmanage {
  const last = id.segments.at(-1)
  if (last === undefined) return 'resources'
  if (last.namespace === undefined && last.types.length === 2) return 'resourceGroups'
  const isGroup = last.types.join('/').toLowerCase() === 'managementgroups'
  return isGroup && id.segments.length === 1 ? 'managementGroups' : 'resources'
}

const ranks = { resources: 0, resourceGroups: 1000, managementGroups: 2000 } as const

/** What must go first has a lower rank: locks, then the deepest resources, then groups. */
export function rankOf(text: string): number {
  const id = parseResourceId(text)
  if (id === undefined) return 0
  if (/\/locks\/[^/]+$/i.test(text)) return -1000
  const depth = id.segments.reduce((sum, { types }) => sum + types.length, 0)
  return ranks[kindOf(id)] - depth
}
