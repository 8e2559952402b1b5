/**
 * What the verbs write to the audit trail. A record is written in the transaction of the change it describes. The
 * change is recorded as a reader of the resource would have seen it, so it holds no secret.
 */

import { type Changes, changesBetween, withSecretPaths } from '#activity/changes.ts'
import { type ActivityRecord, type Initiator, toEvent } from '#activity/record.ts'
import { installationActor } from '#activity/recorded-sql.ts'
import {
  maskSecrets,
  maskUnlessShown,
  type SecretPath,
  secretPathsOf,
  secretsInBody,
} from '#activity/secret-paths.ts'
import type { Principal } from '#kernel/principal.ts'
import type { Tx } from '#stores/store.ts'
import type { CompiledStoredType, CompiledType } from './compiled-type.ts'
import type { Resource } from './declare/resource.ts'
import type { Version } from './declare/wire.ts'
import type { PlaneDependencies } from './dependencies.ts'
import { toWire } from './document.ts'
import { locate } from './locate.ts'
import type { RunInput } from './plane.ts'

/** The initiator of a request, or of an internal call made in somebody's name. */
export function initiatorOf(
  input: Pick<RunInput, 'principal' | 'correlationId' | 'from'>,
): Initiator {
  const { principal, correlationId, from } = input
  return { principal, correlationId, ...(from === undefined ? {} : { from }) }
}

/** The initiator of what the installation does by itself. */
export const systemInitiator: Initiator = { principal: installationActor, correlationId: '' }

/** The principal under which the installation creates resources by itself. */
export const installationPrincipal: Principal = {
  id: 'system',
  type: 'ServicePrincipal',
  tenantId: '',
  displayName: 'the installation',
  clientId: '',
  groups: [],
}

export function recordActivity(
  tx: Pick<Tx, 'record' | 'isDryRun'>,
  record: ActivityRecord,
): Promise<void> {
  return tx.isDryRun === true ? Promise.resolve() : tx.record(toEvent(record))
}

const secretsOfBodies = new WeakMap<object, readonly SecretPath[]>()

function secretsOf(version: Version<unknown>): readonly SecretPath[] {
  let found = secretsOfBodies.get(version.body)
  if (found === undefined) {
    found = secretPathsOf(version.body)
    secretsOfBodies.set(version.body, found)
  }
  return found
}

export interface SentBody {
  readonly path: string
  readonly version: string
  readonly body: object
  /** The answer; undefined where the request was refused. */
  readonly answer: unknown
}

/**
 * The body of a PUT as it may be recorded: only members that the answer shows as well, and without the secrets of its
 * type. A type may read members that its schema does not name, so the schema alone cannot say what is secret. Refuses
 * paths that take no PUT.
 */
export function bodyAsRecorded(
  { registry }: Pick<PlaneDependencies, 'registry'>,
  { path, version, body, answer }: SentBody,
): object {
  const route = locate(registry, 'PUT', path, new URLSearchParams({ 'api-version': version }))
  if (route.kind !== 'put') return {}
  const { shape } = route
  const masked = shape.withoutSecrets?.(body) ?? maskSecrets(secretsOf(shape), body)
  // Masking keeps the shape of the body.
  return maskUnlessShown(masked, answer) as object
}

interface Changed {
  readonly compiled: CompiledStoredType
  /** The version in which both sides are shown. Undefined: what changed is not recorded. */
  readonly version: Version<unknown> | undefined
  readonly before: Resource | undefined
  readonly after: Resource | undefined
  /** The answer, where `after` was already converted to it. */
  readonly wireAfter?: object
  /** The body as it was sent. Of the secrets in it, only their paths are recorded. */
  readonly body?: unknown
}

export function changesOf(deps: PlaneDependencies, changed: Changed): Changes | undefined {
  const { compiled, version, before, after } = changed
  if (version === undefined) return undefined
  const { words } = deps.registry
  const old = before && toWire(compiled, version, before, words)
  const fresh = changed.wireAfter ?? (after && toWire(compiled, version, after, words))
  const secrets = secretsOf(version)
  const changes = changesBetween(old, fresh, secrets)
  return secrets.length === 0
    ? changes
    : withSecretPaths(changes, secretsInBody(secrets, changed.body))
}

/** The version of that date; where the type has none, its newest one. */
export function auditVersion(compiled: CompiledType, date: string): Version<unknown> | undefined {
  const newest = compiled.dates === 'any' ? undefined : compiled.dates[0]
  return (
    compiled.versions.get(date) ??
    (newest === undefined ? undefined : compiled.versions.get(newest))
  )
}
