/**
 * What the verbs tell the audit trail. A record is written in the transaction of what it tells; what changed is told
 * as a reader of the resource would have seen it, so no secret is in it.
 */

import { type Changes, changesBetween, withSecrets } from '#activity/changes.ts'
import { type ActivityRecord, type Trail, toEvent } from '#activity/record.ts'
import { installationActor } from '#activity/recorded-sql.ts'
import { type SecretPath, secretPathsOf, secretsGiven } from '#activity/secret-paths.ts'
import type { ResourceRow, Tx } from '#stores/store.ts'
import type { Resource, Version } from './define.ts'
import { show } from './document.ts'
import type { Parts } from './parts.ts'
import type { RunInput } from './plane.ts'
import type { CompiledType } from './registry.ts'

/** Of a request, or of a call from inside in the name of somebody. */
export function trailOf(input: Pick<RunInput, 'principal' | 'correlationId' | 'from'>): Trail {
  const { principal, correlationId, from } = input
  return { principal, correlationId, ...(from === undefined ? {} : { from }) }
}

/** What the installation does of its own. */
export const ownTrail: Trail = { principal: installationActor, correlationId: '' }

export function recordActivity(tx: Pick<Tx, 'record'>, record: ActivityRecord): Promise<void> {
  return tx.record(toEvent(record))
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

export interface Changed {
  readonly compiled: CompiledType
  /** In which both sides are shown; nothing is told of a type without a shape. */
  readonly version: Version<unknown> | undefined
  readonly before: Resource | undefined
  readonly after: Resource | undefined
  /** The answer, where `after` has been shown already. */
  readonly shown?: object
  /** The row of `before`, whose answer may be at hand. */
  readonly row?: ResourceRow | undefined
  /** As it was sent: secrets in it are told of by their places. */
  readonly body?: unknown
}

export function changesOf(parts: Parts, changed: Changed): Changes | undefined {
  const { compiled, version, before, after } = changed
  if (version === undefined) return undefined
  const { words } = parts.registry
  const known = changed.row === undefined ? undefined : parts.answers.get(changed.row)
  const old =
    known?.version === version.date ? known.body : before && show(compiled, version, before, words)
  const fresh = changed.shown ?? (after && show(compiled, version, after, words))
  const secrets = secretsOf(version)
  const changes = changesBetween(old, fresh, secrets)
  return secrets.length === 0 ? changes : withSecrets(changes, secretsGiven(secrets, changed.body))
}

/** The version a resource is shown in where the request names none of its own. */
export function versionOf(compiled: CompiledType, date: string): Version<unknown> | undefined {
  const newest = compiled.dates === 'any' ? undefined : compiled.dates[0]
  return (
    compiled.versions.get(date) ??
    (newest === undefined ? undefined : compiled.versions.get(newest))
  )
}
