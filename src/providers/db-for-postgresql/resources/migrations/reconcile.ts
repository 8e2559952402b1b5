/**
 * Runs migrations in the background. It looks at the servers or at the worker, and takes the steps that the state
 * machine returns.
 */

import type { Credentials, DatabaseEngine } from '#engines/databases/engine.ts'
import { parentOf } from '#kernel/resource-id.ts'
import {
  defineReconciler,
  type Next,
  type Reconciler,
  type Subject,
} from '#plane/declare/reconciled.ts'
import type { PostgresDependencies } from '../../dependencies.ts'
import { findAtTarget, findFullScope } from '../../domain/active-migration.ts'
import { attempt, type Failure, failed, refusal, unlessEnded } from '../../domain/engine-failure.ts'
import {
  type MigrationEnds,
  migrationEndsOf,
  passwordReceiverProblem,
  specOf,
} from '../../domain/plan.ts'
import {
  advance,
  nextObservation,
  type Observation,
  waitingProgress,
} from '../../domain/state-machine.ts'
import type { FoundServer } from '../flexible-servers/model.ts'
import {
  holdsPlace,
  isActive,
  type Migration,
  migrationOf,
  type Progress,
  type ServerMetadata,
  type Todo,
  tokenOfRound,
} from './model.ts'

type Dependencies = Pick<PostgresDependencies, 'engine' | 'seal' | 'settings' | 'reader' | 'words'>
type Asking = Subject<Migration, Progress>

export function migrationReconciler(deps: Dependencies): Reconciler<Migration> {
  /** Failures of steps that were just tried. The next look reads them. */
  const failures = new Map<string, Failure>()
  return defineReconciler<Migration, Progress, Todo>({
    deadlineSeconds: 3600,
    retryAfterSeconds: 1,
    states: { creating: 'Creating', updating: 'Updating', deleting: 'Deleting' },
    background: {
      endInstead(resource) {
        const { model, progress } = migrationOf(resource)
        // The migration has ended, but it is not gone while its record has to be removed.
        if (!isActive(progress)) return progress?.isForgotten === true ? undefined : model
        return { ...model, cancel: 'True', asked: { ...model.asked, cancel: 'all' } }
      },
    },
    async observe(subject) {
      const { token, last, model, desired, now } = subject
      const here = await unlessEnded(() => deps.engine.place())
      // As it is: what two replicas wrote in turn would be a write for each look.
      if (last !== undefined && isElsewhere(last, here, now)) return last
      const failure = failures.get(token)
      failures.delete(token)
      // A migration that is being deleted is canceled, whatever was asked before.
      const asked: Migration = desired ?? { ...model, asked: { ...model.asked, cancel: 'all' } }
      const seen: Observation = failure ?? (await unlessEnded(() => look(deps, subject, asked)))
      const next = placed(advance(asked, last, seen, now), here, now)
      // The unique key of the store decides when two migrations go on at once.
      if (!holdsPlace(next) || (last !== undefined && holdsPlace(last))) return next
      const other = await findAtTarget(deps.reader, parentOf(subject.id), subject.id)
      if (other !== undefined) {
        const end = `the migration '${other.id.text}' is at its end: one at a time is at work at a target`
        return waitingProgress(next, other.id.text, end)
      }
      const full = await findFullScope(deps, subject.id)
      return full === undefined ? next : waitingProgress(next, full.scope, full.reason)
    },
    next({ last }, progress): Next<Todo, Progress> {
      if (progress === last) return { kind: 'wait', seconds: elsewhereLookSeconds }
      const { todo, lookInSeconds } = progress
      if (todo !== undefined) return { kind: 'step', step: todo }
      if (progress.isForgotten) return { kind: 'done' }
      return { kind: 'wait', seconds: lookInSeconds ?? 0 }
    },
    async perform(subject, todo) {
      const outcome = await attempt(() => unlessEnded(() => act(deps, subject, todo)))
      if (failed(outcome)) failures.set(subject.token, outcome)
    },
  })
}

/** Where the place is not of this process: another one looks at the migration, which was there a moment ago. */
const elsewhereLookSeconds = 1
const presentMilliseconds = 30_000
const absentMilliseconds = 120_000
const aheadMilliseconds = 3_600_000

/** Another process looks after its worker. Here there would seem to be none. */
function isElsewhere({ place }: Progress, here: string, now: number): boolean {
  if (place === undefined || place.of === here) return false
  // One that is hours ahead was written while a clock was; one of minutes is that of a replica, which is there.
  const age = now - place.at
  return age < absentMilliseconds && age > -aheadMilliseconds
}

/** Recorded before its worker begins, and now and then as long as it has a record. */
function placed(next: Progress, here: string, now: number): Progress {
  const { place, ...rest } = next
  if (next.plan === undefined || next.isForgotten) return rest
  const isRecent = place?.of === here && Math.abs(now - place.at) < presentMilliseconds
  return { ...rest, place: isRecent ? place : { of: here, at: now } }
}

/** The migration as it is wanted in this round. */
function inRound(model: Migration, last: Progress | undefined): Migration {
  const { round } = model
  return last?.round === undefined || round === undefined
    ? model
    : { ...model, databases: round.databases }
}

async function look(deps: Dependencies, subject: Asking, whole: Migration): Promise<Observation> {
  const { engine } = deps
  const { last } = subject
  const token = tokenOfRound(subject.token, last)
  const model = inRound(whole, last)
  const wanted = nextObservation(model, last)
  if (wanted === 'nothing') return { kind: 'nothing' }
  if (wanted === 'worker') {
    const observed = await engine.observe(token)
    const isOver = observed.worker === 'ended'
    return { kind: 'worker', observed, ...(isOver ? { report: await engine.report(token) } : {}) }
  }
  const ends = await endsToAsk(deps, subject, model)
  if ('kind' in ends) return ends
  const spec = specOf(model, ends, deps.settings, subject.tags)
  const ask = async (): Promise<Observation> => {
    if (wanted === 'validation') {
      const isFollowed = model.option !== 'Validate'
      const report = await engine.validate(spec, ends.credentials, { isFollowed })
      return { kind: 'validation', report }
    }
    const survey = await engine.survey(token, spec, ends.credentials)
    return { kind: 'survey', survey, spec, ...(await metadataOf(engine, ends)) }
  }
  return attempt(() => unlessEnded(ask))
}

/** The addresses of both servers, with the passwords that may be sent to them. */
async function endsToAsk(
  deps: Dependencies,
  { id }: Pick<Asking, 'id'>,
  model: Migration,
): Promise<MigrationEnds | Failure> {
  const ends = await migrationEndsOf(deps, deps.reader, id, model)
  if (typeof ends === 'string') return refusal(ends)
  const wrong = passwordReceiverProblem(model, ends)
  // The failure passes when the passwords are given again.
  return wrong === undefined ? ends : { ...refusal(wrong), passes: true, waitsForUser: true }
}

function ownedBy({ owner }: Credentials): { readonly owner?: string } {
  return owner === undefined ? {} : { owner }
}

async function metadataOf(
  engine: DatabaseEngine,
  ends: MigrationEnds,
): Promise<{ readonly source: ServerMetadata; readonly target: ServerMetadata }> {
  const { credentials, sourceServer, targetServer } = ends
  const owned = ownedBy(credentials)
  const [source, target] = await Promise.all([
    engine.inspect({ address: ends.source, password: credentials.sourcePassword, ...owned }),
    engine.inspect({ address: ends.target, password: credentials.targetPassword, ...owned }),
  ])
  const show = (
    { major, dataBytes }: { readonly major: number; readonly dataBytes: number },
    server: FoundServer | undefined,
  ): ServerMetadata => ({
    location: server?.location ?? '',
    sku: server?.model.sku ?? {},
    storageMb:
      server?.model.storageSizeGB === undefined
        ? Math.ceil(dataBytes / 2 ** 20)
        : server.model.storageSizeGB * 1024,
    version: String(major),
  })
  return { source: show(source, sourceServer), target: show(target, targetServer) }
}

/** Takes one step. Each step is idempotent, because another process may take it again. */
async function act(deps: Dependencies, subject: Asking, todo: Todo): Promise<Failure | undefined> {
  const { engine } = deps
  const { last } = subject
  const token = tokenOfRound(subject.token, last)
  const model = inRound(subject.model, last)
  switch (todo.kind) {
    case 'forget':
      await engine.forget(token)
      return undefined
    case 'order':
      // Cancel runs first, so a canceled database is not cut over.
      if (todo.cancel.length > 0) await engine.cancel(token, todo.cancel)
      if (todo.cutover.length > 0) await engine.cutover(token, todo.cutover)
      return undefined
    default: {
      const ends = await endsToAsk(deps, subject, model)
      if ('kind' in ends) return ends
      const { credentials, source, target } = ends
      if (todo.kind === 'set-up-replication') {
        await engine.setUpReplication({
          address: source,
          password: credentials.sourcePassword,
          ...ownedBy(credentials),
        })
        return undefined
      }
      const plan = last?.plan
      if (plan === undefined) throw new Error('a worker is begun with a plan')
      // The addresses of the servers may have changed since the worker started. The rest of its specification may
      // not.
      const { sourceFromTarget: _before, authoritiesAtTarget: _then, ...lasting } = plan
      const { sourceFromTarget, authoritiesAtTarget } = specOf(
        model,
        ends,
        deps.settings,
        subject.tags,
      )
      const places = {
        source,
        target,
        ...(sourceFromTarget === undefined ? {} : { sourceFromTarget }),
        ...(authoritiesAtTarget === undefined ? {} : { authoritiesAtTarget }),
      }
      await engine.run(token, { ...lasting, ...places }, credentials)
      return undefined
    }
  }
}
