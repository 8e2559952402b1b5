/**
 * What a deployment with everything nested in it makes or names. A complete deployment deletes the rest of its group,
 * so a name that cannot be found out has to stop the deletion: nothing is guessed here.
 */

import { fromSegments, parseResourceId } from '#kernel/resource-id.ts'
import type { Reader } from '#plane/declare/resource.ts'
import type { PlanNode } from '#template/plan.ts'
import { isDeploymentType } from '#template/read-resources.ts'
import type { Deployment, Progress, StepRecord } from '../../resources/deployments/model.ts'
import { uuidOf } from '../evaluation/uuid-of.ts'

/** More names than this are not recorded. A complete deployment then deletes nothing and says so. */
const namesMax = 10_000

/** The run of a nested deployment; the same whenever its parent's run sends it. */
export function nestedRunOf(parentRun: string, node: Pick<PlanNode, 'key'>): string {
  return uuidOf(`${parentRun} nested ${node.key}`)
}

/** The progress of one run of a deployment. */
export interface RunRecord {
  readonly state: string
  readonly progress: Progress | undefined
}

/** Undefined when the record was deleted or another deployment has written it since. */
export async function recordOfRun(
  reader: Reader,
  id: string,
  run: string,
): Promise<RunRecord | undefined> {
  // The type's `toModel` made the rows, and its reconciler observed them.
  const found = await reader.get(id)
  if (found === undefined || (found.model as Deployment).run !== run) return undefined
  const progress = found.observed as Progress | undefined
  return { state: found.state, progress: progress?.run === run ? progress : undefined }
}

/** The keys of the resources that a deployment's steps make or name. Undefined when one is unknown. */
export function namesIn(steps: readonly StepRecord[]): readonly string[] | undefined {
  const names = new Set<string>()
  for (const { verb, id, names: inner } of steps) {
    if (verb === 'Delete') continue
    if (verb === 'Read' || !isDeployment(id)) names.add(outermost(id))
    else if (inner === undefined) return undefined
    else for (const name of inner) names.add(name)
    if (names.size > namesMax) return undefined
  }
  return [...names]
}

export function isDeployment(text: string): boolean {
  const last = parseResourceId(text)?.segments.at(-1)
  return last !== undefined && isDeploymentType(`${last.namespace}/${last.types.join('/')}`)
}

/** The last one: children of one resource mostly follow each other. */
let lastOutermost = ''

/** The key of the resource directly in its group: children go and stay with it. */
export function outermost(text: string): string {
  if (lastOutermost !== '' && text.toLowerCase().startsWith(`${lastOutermost}/`)) {
    return lastOutermost
  }
  const id = parseResourceId(text)
  const [scope, segment] = id?.segments ?? []
  if (scope === undefined || segment === undefined) return text.toLowerCase()
  const { namespace, types, names } = segment
  const first = { namespace, types: types.slice(0, 1), names: names.slice(0, 1) }
  lastOutermost = fromSegments([scope, first]).key
  return lastOutermost
}
