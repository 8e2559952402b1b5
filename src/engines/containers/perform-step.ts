/** Performs one step of `nextStep` on an engine. It decides nothing and repeats nothing. */

import type { ContainerEngine, GroupContents, GroupSpec, RegistryCredentials } from './engine.ts'
import type { Step } from './next-step.ts'

export interface StepMaterial {
  /** Required by `create` and `start`. */
  readonly spec?: GroupSpec
  /** Called only at `create`, so that secrets are opened only when they are needed. */
  readonly contents?: () => Promise<GroupContents>
  /** The credentials for an image's registry. Called only at `pull`. */
  readonly credentials?: (image: string) => Promise<RegistryCredentials | undefined>
  readonly graceSeconds: number
  readonly signal?: AbortSignal
}

/** Throws the engine's errors. Steps without work (`wait`, `stuck`, `settled`) do nothing. */
export async function performStep(
  engine: ContainerEngine,
  group: string,
  step: Step,
  material: StepMaterial,
): Promise<void> {
  switch (step.kind) {
    case 'pull': {
      const credentials = await material.credentials?.(step.image)
      return await engine.pull(step.image, {
        ...(credentials === undefined ? {} : { credentials }),
        ...(material.signal === undefined ? {} : { signal: material.signal }),
      })
    }
    case 'create':
      if (material.spec === undefined) throw new Error('creating a group needs its spec')
      return await engine.create(group, material.spec, await material.contents?.())
    case 'start':
      if (material.spec === undefined) throw new Error('starting containers needs their spec')
      return await engine.start(group, material.spec, step.parts)
    case 'restart':
      return await engine.restart(group, step.part, {
        startedAt: step.startedAt,
        graceSeconds: material.graceSeconds,
      })
    case 'stop':
      return await engine.stop(group, material.graceSeconds)
    case 'remove':
      return await engine.remove(group)
    case 'wait':
    case 'stuck':
    case 'settled':
      return
    default:
      return step satisfies never
  }
}
