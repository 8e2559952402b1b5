/** Migrations move the databases of a source into a registered server (contract, operation 8). */

import { refuse } from '#kernel/error.ts'
import { parentOf } from '#kernel/resource-id.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineReconciled } from '#plane/declare/reconciled.ts'
import type { Resource } from '#plane/declare/resource.ts'
import type { ListContext } from '#plane/declare/wire.ts'
import { type PostgresDependencies, types } from '../../dependencies.ts'
import { migrationName, noSuchMigration } from '../../domain/migration-name.ts'
import { settingTags } from '../../domain/settings-by-tags.ts'
import { refusePostgres } from '../../errors.ts'

import { migrationProgress } from './actions/progress.ts'
import { migrationReport } from './actions/report.ts'
import { migrationCatchUp, migrationRetry } from './actions/worker-orders.ts'
import { holdsPlace, isActive, type Migration, migrationOf, type Progress } from './model.ts'
import { migrationReconciler } from './reconcile.ts'
import { migrationRules, rightsToSource } from './rules.ts'
import { migrationVersion } from './versions/2025-08-01.ts'

export function migrations(deps: PostgresDependencies): ResourceType {
  const body = (mode: string) => ({
    location: 'here',
    properties: {
      sourceType: 'OnPremises',
      sourceDbServerResourceId: 'db.example:5432@sample',
      migrationMode: mode,
      migrationOption: 'Migrate',
      // A migration without databases waits for their names and calls no server.
      secretParameters: {
        adminCredentials: {
          sourceServerPassword: 'hush-source',
          targetServerPassword: 'hush-target',
        },
      },
    },
  })
  return defineReconciled<Migration>({
    type: types.migrations,
    description: 'Databases of a source, moved into the server.',
    scope: 'resource-group',
    query: { list: ['migrationListFilter'] },
    list: { page: listMigrations, bySubscription: false },
    tracked: { location: 'optional' },
    settingTags,
    name: migrationName,
    versions: [migrationVersion(deps.seal, deps.ids.uuid)],
    secrets: [
      {
        property: 'properties.secretParameters.adminCredentials.sourceServerPassword',
        // In an online migration the target gets this password too, to follow the source.
        receiver: ({ sealedPasswords, sourceId, sourceHost, sourceUser, sslMode, targetHost }) =>
          sealedPasswords && { sourceId, sourceHost, sourceUser, sslMode, targetHost },
      },
      {
        property: 'properties.secretParameters.adminCredentials.targetServerPassword',
        receiver: ({ sealedPasswords, targetHost, targetUser }) =>
          sealedPasswords && { targetHost, targetUser },
      },
    ],
    prepare: async ({ id }, given: object) => ({ ...given, place: id.key }),
    rightsElsewhere: (_id, body, words) => rightsToSource(body, words),
    rules: (context) => migrationRules(deps, context),
    notFound: noSuchMigration,
    deleteRules: ({ requested, resource }) => {
      const refusal = noSuchMigration(requested)
      if (resource === undefined && refusal.status === 400) throw refusal
    },
    unique: {
      key: (id, _model, observed) =>
        // Only the reconciler of this type writes this value.
        holdsPlace((observed ?? undefined) as Progress | undefined)
          ? `migration-target|${parentOf(id).key}`
          : undefined,
      refuse: (id, existing) =>
        refusePostgres.MigrationInProgress({ id: (existing ?? parentOf(id)).text }),
    },
    reconcile: migrationReconciler(deps),
    actions: {
      progress: migrationProgress(deps.engine),
      catchUp: migrationCatchUp(deps.engine),
      retry: migrationRetry(deps.engine),
      report: migrationReport(deps.engine),
    },
    sample: {
      redirects: [
        { properties: { sourceDbServerResourceId: 'elsewhere.example:5432@sample' } },
        { properties: { sourceDbServerFullyQualifiedDomainName: 'elsewhere.example' } },
        { properties: { targetDbServerFullyQualifiedDomainName: 'elsewhere.example' } },
        { properties: { secretParameters: { sourceServerUsername: 'other' } } },
        { properties: { secretParameters: { targetServerUsername: 'other' } } },
      ],
      name: (seed) => `migration${seed}`,
      body: () => body('Offline'),
      changed: () => body('Online'),
      isAlone: true,
      secrets: ['hush-source', 'hush-target'],
    },
  })
}

const scanRows = 200

/** `migrationListFilter` is `Active` (default) or `All`. */
async function listMigrations({ reader, parent, query, cursor, limit }: ListContext): Promise<{
  readonly items: readonly Resource<Migration>[]
  readonly next?: string
}> {
  const filter = query.get('migrationListFilter') ?? 'Active'
  if (filter !== 'Active' && filter !== 'All') {
    throw refuse.InvalidQueryParameter({
      name: 'migrationListFilter',
      reason: "expected 'Active' or 'All'",
    })
  }
  const items: Resource<Migration>[] = []
  let after = cursor
  for (;;) {
    const page = await reader.page({
      type: types.migrations,
      under: parent,
      after,
      limit: scanRows,
    })
    for (const row of page.items) {
      if (filter === 'Active' && !isActive(migrationOf(row).progress)) continue
      if (items.length === limit) return { items, ...(after === undefined ? {} : { next: after }) }
      // Rows of this type have this model.
      items.push(row as Resource<Migration>)
      after = row.id.key
    }
    if (page.next === undefined) return { items }
    after = page.next
    if (page.isShort === true) return { items, next: after }
  }
}
