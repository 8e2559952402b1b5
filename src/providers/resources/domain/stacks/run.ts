/**
 * One run of a stack: its template is carried out as a deployment, then deny assignments are written, then what it manages
 * no more is deleted or let go. What is in memory can be lost: every step may be done again.
 */

import { isTerminalState } from '#kernel/operation.ts'
import type { Clock } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import { isWithin, parseResourceId, type ResourceId } from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import { freeTurn } from '#plane/next-turn.ts'
import type { JsonObject } from '#template/plan.ts'
import type {
  DeploymentStack,
  ManagedResource,
  StackProgress,
} from '../../resources/deployment-stacks/model.ts'
import type { Deployment, Progress, StepError } from '../../resources/deployments/model.ts'
import { attempt } from '../deployments/attempt.ts'
import type { Awaiting } from '../deployments/awaited.ts'
import { recordOfRun } from '../deployments/kept-resources.ts'
import { assignRun } from '../deployments/nesting.ts'
import { uuidOf } from '../evaluation/uuid-of.ts'
import {
  denyBody,
  denyFingerprint,
  denyPath,
  denyVersion,
  manageAction,
  openRoomToDeny,
} from './deny.ts'
import { kindOf, madeBy } from './managed.ts'
import { Removal } from './removal.ts'

/** A step of the reconciler records its progress after this long. */
const stepSeconds = 1
const recordVersion = '2025-03-01'

export interface StackRunDependencies
  extends Pick<PlaneServices, 'caller' | 'reader' | 'listTracked' | 'storeAsSystem' | 'isAllowed'> {
  readonly clock: Clock
  readonly words: VendorWords
  /** The arguments of the request. */
  parametersOf(id: ResourceId, model: DeploymentStack): JsonObject
  /** A version of this resource's type. */
  versionOf(id: ResourceId): string
  readonly awaiting: Awaiting
}

interface RunOrigin {
  readonly id: ResourceId
  readonly model: DeploymentStack
  readonly generation: number
  readonly isDeleting: boolean
  /** The last record, perhaps of an earlier run. */
  readonly last: StackProgress | undefined
}

export interface StackSender {
  readonly principal: Principal
  readonly correlationId: string
}

/** The id of the work: each PUT and each deletion has its own. */
export function runOf({ model, generation, isDeleting }: Omit<RunOrigin, 'id' | 'last'>): string {
  return isDeleting ? `${model.run} ${generation}` : model.run
}

export function deploymentRunOf(run: string): string {
  return uuidOf(`${run} deployment`)
}

/** The principal, exempted from the stack's own deny assignments. */
export function throughStack(principal: Principal, memberId: string): Principal {
  return { ...principal, through: [...(principal.through ?? []), memberId] }
}

export class StackRun {
  readonly id: string
  /** Of its template. */
  readonly characters: number
  readonly #deps: StackRunDependencies
  readonly #origin: RunOrigin
  readonly #resources: Map<string, ManagedResource>
  readonly #removal: Removal
  #phase: StackProgress['phase']
  #outputs: StackProgress['outputs']
  #error: StepError | undefined
  #endedAt: number | undefined
  #isDeploymentThere = false
  /** The keys of those whose deny assignments this process has handled. */
  readonly #denyTried = new Set<string>()

  constructor(deps: StackRunDependencies, origin: RunOrigin) {
    const { id, last, isDeleting } = origin
    this.id = runOf(origin)
    this.#deps = deps
    // These are read when it is deployed, and may have megabytes; what was recorded is kept below.
    const model = { ...origin.model, template: {}, parameters: {}, sealedParameters: '' }
    this.#origin = { ...origin, model, last: undefined }
    this.characters = JSON.stringify(origin.model.template).length
    const recorded = last?.run === this.id ? last : undefined
    const known = (last?.resources ?? []).map((one) => [one.id.toLowerCase(), one] as const)
    this.#resources = new Map(known)
    this.#phase = recorded?.phase ?? (isDeleting ? 'denying' : 'deploying')
    this.#outputs = recorded?.outputs
    this.#error = recorded?.error
    this.#endedAt = recorded?.endedAt
    const all = isDeleting ? [...this.#resources.keys()] : []
    this.#removal = new Removal(
      {
        ...deps,
        stackKey: id.key,
        sender: this.#sender,
        isDetached: (key) => this.#isDetached(key),
        textOf: (key) => this.#resources.get(key)?.id ?? key,
      },
      recorded ?? { unmanaged: all, deleted: [], detached: [], failed: [] },
    )
  }

  progress(): StackProgress {
    return {
      run: this.id,
      phase: this.#phase,
      resources: [...this.#resources.values()],
      ...this.#removal.progress(),
      ...(this.#outputs === undefined ? {} : { outputs: this.#outputs }),
      ...(this.#endedAt === undefined ? {} : { endedAt: this.#endedAt }),
      ...(this.#error === undefined ? {} : { error: this.#error }),
    }
  }

  /** Nothing can be done before something else has ended. */
  get isWaiting(): boolean {
    if (this.#phase === 'deploying') return this.#isDeploymentThere
    return this.#phase === 'removing' && this.#removal.isWaiting
  }

  async look(): Promise<void> {
    if (this.#phase === 'deploying') await this.#lookAtDeployment()
    if (this.#phase === 'removing') {
      this.#forgetRemoved(await this.#removal.look())
    }
  }

  async advance(): Promise<void> {
    const until = this.#deps.clock.now() + stepSeconds * 1000
    if (this.#phase === 'deploying') await this.#deploy()
    else if (this.#phase === 'denying') await this.#deny(until)
    else if (this.#phase === 'removing') {
      this.#forgetRemoved(await this.#removal.advance(until))
      if (this.#removal.isDone) this.#end()
    }
  }

  /** As the caller who deploys or deletes. */
  get #sender(): StackSender {
    const { model } = this.#origin
    const { principal, correlationId } = this.#deletion ?? {
      principal: model.deployer,
      correlationId: model.correlationId,
    }
    return { principal: throughStack(principal, model.memberId), correlationId }
  }

  /** Somebody sent the request: a stack that goes with a scope above it asks nobody. */
  get #isSent(): boolean {
    return !this.#origin.isDeleting || this.#deletion !== undefined
  }

  get #deletion(): DeploymentStack['deletion'] {
    const { model, generation, isDeleting } = this.#origin
    const { deletion } = model
    return isDeleting && deletion?.generation === generation ? deletion : undefined
  }

  /** A stack that is removed with a scope above it detaches what it managed. */
  #isDetached(key: string): boolean {
    const { id, model, isDeleting } = this.#origin
    const resource = parseResourceId(key)
    if (resource === undefined || isWithin(id.key, key)) return true
    const actions = isDeleting ? this.#deletion?.actionOnUnmanage : model.actionOnUnmanage
    return actions === undefined || actions[kindOf(resource)] === 'detach'
  }

  async #deploy(): Promise<void> {
    const { id, model } = this.#origin
    const stored = (await this.#deps.reader.get(id))?.model as DeploymentStack | undefined
    // Another run has begun, whose template it is.
    if (stored?.run !== model.run) return
    const { template } = stored
    const { location, tags, debugLevel, deploymentId: path } = model
    const body = {
      ...(location === undefined ? {} : { location }),
      ...(tags === undefined ? {} : { tags }),
      properties: {
        mode: 'Incremental',
        template,
        parameters: this.#deps.parametersOf(id, stored),
        ...(debugLevel === undefined ? {} : { debugSetting: { detailLevel: debugLevel } }),
      },
    }
    assignRun(body, deploymentRunOf(model.run))
    const request = { method: 'PUT', path, version: recordVersion, body } as const
    const { awaiting, caller } = this.#deps
    const sent = await attempt(() =>
      awaiting(path.toLowerCase(), id.key, () => caller.call({ ...request, ...this.#sender })),
    )
    if (sent.kind === 'ok') this.#isDeploymentThere = true
    else this.#fail(sent.error)
  }

  async #lookAtDeployment(): Promise<void> {
    const { model } = this.#origin
    const { reader } = this.#deps
    const run = deploymentRunOf(model.run)
    const record = await recordOfRun(reader, model.deploymentId, run)
    if (record === undefined) {
      // It was deleted, or deployed again by somebody else.
      if (this.#isDeploymentThere) this.#fail(replaced(model.deploymentId))
      return
    }
    this.#isDeploymentThere = true
    if (!isTerminalState(record.state)) return
    const progress = record.progress
    await this.#take({ run }, progress, record.state === 'Succeeded')
  }

  /** What the deployment made is managed from now on; what was managed before and is not among it is not. */
  async #take(
    deployment: Pick<Deployment, 'run'>,
    progress: Progress | undefined,
    isWhole: boolean,
  ): Promise<void> {
    const made = await madeBy(this.#deps.reader, deployment, progress)
    for (const [key, id] of made.ids) {
      const before = this.#resources.get(key)
      const fresh = { id, status: 'managed', denyStatus: 'none' } as const
      this.#resources.set(key, { ...fresh, ...before, status: 'managed' })
    }
    this.#outputs = progress?.outputs
    if (!isWhole) {
      this.#fail(deploymentFailed(progress?.error))
    } else if (!made.isWhole && this.#origin.model.bypassStackOutOfSyncError !== true) {
      this.#fail(outOfSync)
    } else {
      this.#removal.add([...this.#resources.keys()].filter((key) => !made.ids.has(key)))
      this.#phase = 'denying'
    }
  }

  /** Managed resources stay protected by the settings. */
  #fail(error: StepError): void {
    this.#error = error
    this.#phase = 'denying'
  }

  async #deny(until: number): Promise<void> {
    const { model, isDeleting } = this.#origin
    const isDenying = !isDeleting && model.denySettings.mode !== 'none'
    const settings = isDenying ? denyFingerprint(model) : undefined
    const requireRoom = openRoomToDeny(this.#deps.reader)
    for (const [key, resource] of this.#resources) {
      const wanted = this.#removal.has(key) ? undefined : settings
      if (this.#denyTried.has(key)) continue
      await freeTurn(model.deployer.id)
      if (this.#deps.clock.now() >= until) return
      if (!(await this.#isDeniedAs(resource, wanted)))
        await this.#denyOne(key, resource, wanted, requireRoom)
      // Also one that is denied already: a step that looked at them again would come no further.
      this.#denyTried.add(key)
    }
    this.#phase = 'removing'
  }

  async #isDeniedAs(resource: ManagedResource, wanted: string | undefined): Promise<boolean> {
    if (resource.deny !== wanted || resource.denyStatus === 'inapplicable') return false
    if (wanted === undefined) return true
    // It goes with its resource, which somebody may have made anew since.
    const { reader, words } = this.#deps
    return (await reader.get(denyPath(words, this.#origin.id, resource.id))) !== undefined
  }

  async #denyOne(
    key: string,
    resource: ManagedResource,
    wanted: string | undefined,
    requireRoom: ReturnType<typeof openRoomToDeny>,
  ): Promise<void> {
    const { id, model } = this.#origin
    const { deny: _before, ...rest } = resource
    const path = denyPath(this.#deps.words, id, resource.id)
    const scope = parseResourceId(resource.id)
    const { principal } = this.#sender
    const body = wanted === undefined ? undefined : denyBody(id, model)
    const done = await attempt(async () => {
      const isThere = scope !== undefined && (await this.#deps.reader.get(scope)) !== undefined
      // A computed resource, such as the tags of a scope, cannot have one.
      if (wanted !== undefined && !isThere) return 'inapplicable' as const
      if (isThere && this.#isSent && !(await this.#deps.isAllowed(principal, manageAction, scope)))
        return 'notSupported' as const
      if (body !== undefined && scope !== undefined) await requireRoom(scope, path)
      await this.#deps.storeAsSystem(path, denyVersion, body)
      return wanted === undefined ? ('none' as const) : model.denySettings.mode
    })
    const denyStatus = done.kind === 'ok' ? done.value : 'none'
    const isWritten = wanted !== undefined && denyStatus === model.denySettings.mode
    // What the sender may not let go stays as it is.
    const isKept = wanted === undefined && denyStatus === 'notSupported'
    if (isKept) this.#removal.keep(key)
    else this.#resources.set(key, { ...rest, denyStatus, ...(isWritten ? { deny: wanted } : {}) })
    const isDone = wanted === undefined ? !isKept : isWritten || denyStatus === 'inapplicable'
    if (isDone) return
    const error = done.kind === 'ok' ? notAllowed(principal.id, resource.id) : done.error
    this.#removal.note({ id: resource.id, error })
    this.#error ??= denyFailed
  }

  #forgetRemoved(keys: readonly string[]): void {
    for (const key of keys) this.#resources.delete(key)
  }

  #end(): void {
    for (const { id } of this.#removal.notDeleted) {
      const key = id.toLowerCase()
      const resource = this.#resources.get(key)
      if (resource !== undefined) this.#resources.set(key, { ...resource, status: 'deleteFailed' })
      this.#error ??= deleteFailed
    }
    this.#phase = this.#error === undefined ? 'done' : 'failed'
    this.#endedAt = this.#deps.clock.now()
  }
}

const outOfSync: StepError = {
  code: 'DeploymentStackOutOfSync',
  message:
    'What the nested deployments made is no longer on record, so what the stack manages is not known whole. Nothing was removed; `bypassStackOutOfSyncError` goes on with what is known.',
}

const deleteFailed: StepError = {
  code: 'DeploymentStackDeleteResourcesFailed',
  message: 'One or more resources could not be deleted; `failedResources` says why.',
}

const denyFailed: StepError = {
  code: 'DeploymentStackDenyAssignmentsFailed',
  message:
    'One or more deny assignments could not be written or removed; `failedResources` says why.',
}

function deploymentFailed(cause: StepError | undefined): StepError {
  const message = 'One or more resources could not be deployed.'
  if (cause === undefined) return { code: 'DeploymentStackDeploymentFailed', message }
  const { details = [] } = cause
  const first = details.length === 0 ? [{ code: cause.code, message: cause.message }] : details
  return { code: 'DeploymentStackDeploymentFailed', message, details: first }
}

function replaced(id: string): StepError {
  const message = `The deployment '${id}' was deleted, or deployed anew by another, while the stack relied on it.`
  return { code: 'DeploymentReplaced', message }
}

function notAllowed(principalId: string, id: string): StepError {
  const message = `The principal '${principalId}' may not manage deny settings at '${id}'.`
  return { code: 'LinkedAuthorizationFailed', message }
}
