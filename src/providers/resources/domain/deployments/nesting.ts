/**
 * Which deployment a nested one belongs to. One request may begin a tree of deployments: a template can hold itself, so
 * the depth of the tree and the number of deployments in it are bounded here.
 */

import { refuseDeployment } from '../../errors.ts'

export const nestingLimits = {
  /** Levels below the deployment that a client sent. */
  depth: 8,
  /** Nested deployments that one request may begin, at all levels together. Counted by each replica for itself. */
  deployments: 800,
} as const

/** Trees whose deployments are counted at the same time; the one that began first is forgotten. */
const treesMax = 1000

export interface Nesting {
  /** The run of the deployment that a client sent. */
  readonly root: string
  /** 1 for a deployment directly inside it. */
  readonly depth: number
  readonly parent: { readonly id: string; readonly run: string }
  /** Resources it may have with all that is nested in it; `nested-share.ts`. */
  readonly share?: number
}

interface NestedRun {
  readonly run: string
  readonly nesting: Nesting
}

const nestedRuns = new WeakMap<object, NestedRun>()

/** Says which run the PUT of this very body begins, and inside which deployment. */
export function assignNestedRun(body: object, nested: NestedRun): void {
  nestedRuns.set(body, nested)
}

/** Undefined for a body that came from a client. */
export function nestedRunIn(body: unknown): NestedRun | undefined {
  return typeof body === 'object' && body !== null ? nestedRuns.get(body) : undefined
}

const runs = new WeakMap<object, string>()

/** Says which run the PUT of this very body begins: of a deployment that a stack begins. */
export function assignRun(body: object, run: string): void {
  runs.set(body, run)
}

/** Undefined for a body that came from a client. */
export function runIn(body: unknown): string | undefined {
  return typeof body === 'object' && body !== null ? runs.get(body) : undefined
}

export class DeploymentTrees {
  readonly #runs = new Map<string, Set<string>>()

  /** Throws when the tree is too deep or too large. Admitting the same run again counts once. */
  admit({ run, nesting: { root, depth } }: NestedRun): void {
    if (depth > nestingLimits.depth) {
      throw refuseDeployment.NestedDeploymentDepth({ limit: nestingLimits.depth })
    }
    const runs = this.#runs.get(root) ?? new Set<string>()
    if (!runs.has(run) && runs.size >= nestingLimits.deployments) {
      throw refuseDeployment.NestedDeploymentQuota({ limit: nestingLimits.deployments })
    }
    runs.add(run)
    this.#runs.set(root, runs)
    const [oldest] = this.#runs.keys()
    if (this.#runs.size > treesMax && oldest !== undefined) this.#runs.delete(oldest)
  }
}
