/**
 * Makes groups real: observe the engine, decide (`next.ts`), do one step. Failures become part of the observation,
 * so that the user sees them in the group's events.
 */

import type {
  ContainerEngine,
  EngineDescription,
  GroupContents,
} from '#engines/containers/engine.ts'
import type { Step } from '#engines/containers/next-step.ts'
import { performStep, type StepMaterial } from '#engines/containers/perform-step.ts'
import type { Clock, Log, Timers } from '#kernel/ports.ts'
import type { WorkloadIdentities } from '#kernel/principal.ts'
import { nameOf, scopeOf } from '#kernel/resource-id.ts'
import type { UsageMeter } from '#kernel/usage.ts'
import {
  defineReconciler,
  type Reconciler,
  StepFailure,
  type Subject,
} from '#plane/declare/reconciled.ts'
import type { Reader } from '#plane/declare/resource.ts'
import { uuidOf } from '../../domain/absent-identity.ts'
import { type Attempt, attempt, type Failure } from '../../domain/engine-failure.ts'
import type { CommandPace } from '../../domain/groups/command-pace.ts'
import {
  allCredentials,
  type ContentDependencies,
  credentialsOf,
  groupContents,
} from '../../domain/groups/contents.ts'
import { followEngineEvents, KnownEnds } from '../../domain/groups/follow-events.ts'
import { GroupIndex } from '../../domain/groups/group-index.ts'
import { type AllowedRegistries, engineImage } from '../../domain/groups/image-policy.ts'
import {
  type GroupStep,
  nextGroupStep,
  resyncSeconds,
  stepKey,
} from '../../domain/groups/next-step.ts'
import {
  type FailedStep,
  type Look,
  type Observed,
  reduceObservations,
  type Seen,
} from '../../domain/groups/observation.ts'
import { type PlannedProbe, ProbeBoard } from '../../domain/groups/probes.ts'
import { Pulls, whileWanted } from '../../domain/groups/pulls.ts'
import {
  type GroupHostContext,
  restartOf,
  scheduleOf,
  specOf,
  withAnyHostPort,
} from '../../domain/groups/spec.ts'
import { createUsageReporter } from '../../domain/groups/usage.ts'
import type { ContainerLimits } from '../../domain/limits.ts'
import { refuseContainer } from '../../errors.ts'
import { allContainers, type ContainerGroup, hashOf, provisioningSeconds } from './model.ts'

export interface ReconcileDependencies extends ContentDependencies {
  readonly meter?: UsageMeter | undefined
  readonly engine: ContainerEngine
  readonly reader: Reader
  readonly clock: Clock
  readonly timers: Timers
  readonly pace: CommandPace
  readonly log: Log
  readonly limits: ContainerLimits
  readonly hostAddress: string
  readonly keptPorts: readonly number[]
  readonly allowedRegistries: AllowedRegistries
  readonly cpusMax: number | undefined
  readonly workloads: WorkloadIdentities
}

const graceSeconds = 10
const createTriesMax = 3

type GroupSubject = Subject<ContainerGroup, Observed>

function hostContextOf(deps: ReconcileDependencies): GroupHostContext {
  return {
    hostAddress: deps.hostAddress,
    keptPorts: deps.keptPorts,
    shareRoot: deps.shareRoot,
    cpusMax: deps.cpusMax,
    processesPerContainerMax: deps.limits.processesPerContainerMax,
    resolvesSecrets: deps.secrets !== undefined,
    clonesRepositories: deps.repositories !== undefined,
    allowedRegistries: deps.allowedRegistries,
  }
}

export function reconcileWith(deps: ReconcileDependencies): Reconciler<ContainerGroup> {
  const { engine, limits, clock } = deps
  const around = hostContextOf(deps)
  const index = new GroupIndex(deps.reader)
  const ends = new KnownEnds()
  const failedSteps = new Map<string, FailedStep>()
  const tellUsage = createUsageReporter(deps.meter)
  let wakeKey: (key: string) => void = () => {}
  const probes = new ProbeBoard({
    engine,
    clock,
    timers: deps.timers,
    pace: deps.pace,
    wake: (token) => {
      const key = index.get(token)
      if (key !== undefined) wakeKey(key)
    },
  })
  const pulls = new Pulls(deps.timers)
  const described = describedBy(engine)
  /** The generation whose identity the directory is known to have, by the group's token. */
  const settled = new Map<string, number>()
  const settleIdentity = identityKeeper(deps.workloads, settled)

  return defineReconciler<ContainerGroup, Observed, GroupStep>({
    deadlineSeconds: provisioningSeconds,
    retryAfterSeconds: 1,
    resyncSeconds,
    states: { creating: 'Pending', updating: 'Updating', deleting: 'Deleting' },
    async observe(subject) {
      const { token, desired, model } = subject
      index.learn(token, subject.id.key)
      await settleIdentity(subject)
      const tried = await attempt(async () => {
        const { pullsByItself } = await described.ask()
        return see(engine, subject, { ...around, pullsByItself })
      })
      if (!tried.ok) {
        throw new StepFailure(tried.failure.retry, tried.failure.code, tried.failure.message)
      }
      const look: Look = {
        generation: subject.generation,
        hash: desired === undefined ? undefined : hashOf(desired),
        restart: restartOf(model.properties.restartPolicy),
        stopping: model.intent === 'stopped',
        parts: allContainers(model).map(({ name, init, properties }) => ({
          name,
          init,
          image: engineImage(properties.image ?? '', around.allowedRegistries),
        })),
        seen: tried.value,
        trouble: failedSteps.get(token),
        runsPrograms: described.known?.runsPrograms ?? true,
        exitCodeAt: (part, finishedAt) => ends.exitCodeAt(token, part, finishedAt),
        verdict: (part) => probes.verdict(token, part),
        now: subject.now,
        eventsMax: limits.eventsMax,
      }
      const observed = reduceObservations(subject.last, look)
      await tellUsage(subject, observed, subject.now)
      failedSteps.delete(token)
      if (described.known?.probesByItself !== true) {
        probes.watch(token, scopeOf(subject.id).key, plansOf(subject, observed))
      }
      return observed
    },
    next(subject, observed) {
      return nextGroupStep(subject, observed, described.answer(), around)
    },
    async perform(subject, { step, fresh }) {
      const pullsByItself = described.known?.pullsByItself ?? false
      const tried = await attempt(() =>
        performOn(deps, around, subject, { step, pullsByItself, pulls }),
      )
      if (tried.ok) return
      if (tried.heard !== undefined) {
        const fields = { group: subject.id.key, step: stepKey(step), reason: tried.heard }
        deps.log.warn(fields, 'a step of a container group failed')
      }
      if (step.kind === 'create' && fresh && tried.kind === 'busy') {
        if (await performElsewhere(deps, around, subject)) return
      }
      const before = subject.last?.trouble
      const again =
        before?.generation === subject.generation && before.step === stepKey(step)
          ? before
          : undefined
      const at = clock.now()
      const failure = failureOf(step, tried, again?.count ?? 0)
      failedSteps.set(subject.token, {
        ...failure,
        step: stepKey(step),
        generation: subject.generation,
        count: (again?.count ?? 0) + 1,
        firstAt: again?.firstAt ?? at,
        at,
      })
    },
    lose: ({ token }) => engine.remove(token),
    forget(key) {
      for (const remembered of [settled, failedSteps]) {
        for (const token of remembered.keys()) {
          if (key === undefined || (index.get(token) ?? key) === key) remembered.delete(token)
        }
      }
    },
    watchEvents(wake, signal) {
      wakeKey = wake
      signal.addEventListener('abort', () => probes.close(), { once: true })
      signal.addEventListener('abort', () => pulls.close(), { once: true })
      signal.addEventListener('abort', () => deps.pace.close(), { once: true })
      const { log, timers } = deps
      void followEngineEvents({ engine, index, ends, probes, clock, timers, log }, wake, signal)
    },
  })
}

/** What the engine shows of a group, and which of its images are missing. */
async function see(
  engine: ContainerEngine,
  { desired, token }: GroupSubject,
  around: Pick<GroupHostContext, 'allowedRegistries'> & Pick<EngineDescription, 'pullsByItself'>,
): Promise<Seen> {
  const found = await engine.observe(token)
  const images =
    desired === undefined
      ? []
      : allContainers(desired).map((one) =>
          engineImage(one.properties.image ?? '', around.allowedRegistries),
        )
  const complete =
    found.sandbox === 'up' &&
    images.length <= found.parts.length &&
    found.parts.every(({ state }) => state.kind !== 'created')
  const wanted = [...new Set(images)].filter((image) => image !== '')
  const present =
    desired?.intent !== 'running' || complete || around.pullsByItself
      ? new Set(wanted)
      : (await engine.observe(token, wanted)).imagesPresent
  const { imagesPresent: _, hash, address, ...rest } = found
  return {
    ...rest,
    ...(hash === undefined ? {} : { hash }),
    ...(address === undefined ? {} : { address }),
    imagesMissing: wanted.filter((image) => !present.has(image)).sort(),
  }
}

/**
 * Keeps the group's own identity in the directory while the group exists. This is no step of an engine: it runs
 * before the observation, and costs nothing once it is right.
 */
function identityKeeper(
  workloads: WorkloadIdentities,
  settled: Map<string, number>,
): (subject: GroupSubject) => Promise<void> {
  return async ({ id, token, desired, generation }) => {
    // Of another generation another replica may have settled another identity.
    if (settled.get(token) === generation) return
    const wanted = desired?.identity?.principalId
    const held = await workloads.of(id.key)
    if (wanted === undefined) {
      if (held !== undefined) await workloads.take(id.key)
    } else if (held !== wanted || !settled.has(token)) {
      const clientId = uuidOf(`client|${wanted}`)
      await workloads.give(id.key, { principalId: wanted, clientId, displayName: nameOf(id) })
    }
    if (desired === undefined) settled.delete(token)
    else settled.set(token, generation)
  }
}

interface Described {
  /** Of the last answer. */
  readonly known: EngineDescription | undefined
  /** The same. Throws where nobody has asked yet. */
  answer(): EngineDescription
  ask(): Promise<EngineDescription>
}

/** Asks once for all groups, also for those that ask at once: an engine may take long to answer. */
function describedBy(engine: ContainerEngine): Described {
  let known: EngineDescription | undefined
  let asking: Promise<EngineDescription> | undefined
  return {
    get known() {
      return known
    },
    answer() {
      if (known === undefined) throw new Error('a group is observed before it is decided about')
      return known
    },
    async ask() {
      if (known !== undefined) return known
      asking ??= engine.describe().finally(() => {
        asking = undefined
      })
      known = await asking
      return known
    },
  }
}

interface Work {
  readonly step: Step
  readonly pullsByItself: boolean
  readonly pulls: Pulls
}

async function performOn(
  deps: ReconcileDependencies,
  around: GroupHostContext,
  subject: GroupSubject,
  { step, pullsByItself, pulls }: Work,
): Promise<void> {
  const { id, token, desired } = subject
  await using held = new AsyncDisposableStack()
  const material: StepMaterial = {
    graceSeconds,
    ...(desired === undefined
      ? {}
      : {
          spec: specOf(desired, around),
          contents: async () => ({
            ...(await contentsFor(deps, subject, desired, held)),
            ...(pullsByItself ? { credentials: await allCredentials(desired, deps) } : {}),
          }),
          credentials: (image: string) => credentialsOf(desired, image, deps),
        }),
  }
  const run = (signal?: AbortSignal): Promise<void> =>
    performStep(deps.engine, token, step, signal ? { ...material, signal } : material)
  if (step.kind !== 'pull') return await run()
  await pulls.pull({
    owner: scopeOf(id).key,
    seconds: provisioningSeconds,
    isWanted: () => isWanted(deps, subject),
    run,
  })
}

async function isWanted(
  { reader }: ReconcileDependencies,
  { id, generation }: GroupSubject,
): Promise<boolean> {
  return (await reader.get(id))?.generation === generation
}

/** Its repositories may take minutes, and wait for others before. */
function contentsFor(
  deps: ReconcileDependencies,
  subject: GroupSubject,
  desired: ContainerGroup,
  held: AsyncDisposableStack,
): Promise<GroupContents> {
  return whileWanted(
    deps.timers,
    () => isWanted(deps, subject),
    (signal) => groupContents(desired, deps, held, signal),
  )
}

/** A host port was taken: tries once more with ports of the engine's choice. Returns true when that worked. */
async function performElsewhere(
  deps: ReconcileDependencies,
  around: GroupHostContext,
  subject: GroupSubject,
): Promise<boolean> {
  const { token, desired } = subject
  if (desired?.properties.ipAddress?.type !== 'Public') return false
  const tried = await attempt(async () => {
    await using held = new AsyncDisposableStack()
    await deps.engine.remove(token)
    const contents = await contentsFor(deps, subject, desired, held)
    await deps.engine.create(token, withAnyHostPort(specOf(desired, around)), contents)
  })
  return tried.ok
}

/** A step's failure as a code of facts 4.6. */
function failureOf(
  step: Step,
  tried: Extract<Attempt<void>, { ok: false }>,
  tries: number,
): Failure {
  const { failure, kind, reason } = tried
  if (kind === 'material') return failure
  if (step.kind === 'pull') {
    const image = step.image
    return kind === 'unavailable' || kind === 'busy'
      ? {
          code: 'RegistryErrorResponse',
          message: refuseContainer.RegistryErrorResponse({ image, reason }).message,
          retry: 'later',
        }
      : {
          code: 'InaccessibleImage',
          message: refuseContainer.InaccessibleImage({ image, reason }).message,
          retry: 'never',
        }
  }
  if (step.kind === 'create' && kind === 'absent') {
    // The image was pulled a moment ago and is gone again, or never existed; a few retries tell which.
    const { message } = refuseContainer.InaccessibleImage({ image: 'of a container', reason })
    return { code: 'InaccessibleImage', message, retry: tries < createTriesMax ? 'later' : 'never' }
  }
  if (step.kind === 'start' && kind === 'refused') {
    const name = step.parts.join(', ')
    const message = refuseContainer.ContainerStartFailed({ name, reason }).message
    return { code: 'ContainerStartFailed', message, retry: 'never' }
  }
  return failure
}

/** The probes of every running container. */
function plansOf({ desired }: GroupSubject, observed: Observed): readonly PlannedProbe[] {
  if (desired === undefined || desired.intent !== 'running') return []
  return desired.properties.containers.flatMap(({ name, properties = {} }) => {
    const state = observed.seen.parts.find((one) => one.name === name)?.state
    if (state?.kind !== 'running') return []
    return (['liveness', 'readiness'] as const).flatMap((kind): readonly PlannedProbe[] => {
      const schedule = scheduleOf(properties[`${kind}Probe`])
      return schedule === undefined
        ? []
        : [{ part: name, kind, schedule, startedAt: state.startedAt }]
    })
  })
}
