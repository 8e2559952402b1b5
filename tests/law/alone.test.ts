/**
 * The law of what is written alone. SQLite has one writer; on PostgreSQL a transaction sees what others commit while it
 * runs. Where rows decide by each other, transactions run one at a time (`src/stores/README.md`). Here a new one is found
 * that does not.
 */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sourceFiles } from './source.ts'

interface Rule {
  readonly what: string
  readonly folder: string
  /** Code that may write and is not alone. `Pick<Sql, 'all'>` only reads. */
  readonly pattern: RegExp
  readonly bad: string
  readonly good: string
  /** Files that may contain it, and why. */
  readonly allowed: Readonly<Record<string, string>>
}

const rules: readonly Rule[] = [
  {
    what: 'files of the directory write through DirectorySql',
    folder: 'src/identity',
    pattern: /\b(?:Recorded)?Sql\b[\s\S]*\.transact\(/,
    bad: 'function open(sql: Sql) { return sql.transact(work) }',
    good: "function open(sql: DirectorySql, from: Pick<Sql, 'all'>) { return sql.transact(work) }",
    allowed: {
      'src/identity/directory-sql.ts': 'makes it',
      'src/identity/adapter.ts':
        'the state of the OAuth library, which each of its statements decides alone',
      'src/identity/sign-in.ts': 'counts of failures, whose rows it locks',
    },
  },
  {
    what: 'verbs write resources by transactOn',
    folder: 'src/plane',
    pattern: /\bstore\.transact\(/,
    bad: 'await deps.store.transact(work)',
    good: 'await transactOn(deps, compiled, work)',
    allowed: {
      'src/plane/transact-on.ts': 'does it',
      'src/plane/puts-together.ts': 'writes several resources of types without a feed',
      'src/plane/verbs/put.ts': 'adds a record of activity',
      'src/plane/verbs/action.ts': 'adds a record of activity',
      'src/plane/verbs/write-computed.ts': 'adds a record of activity',
      'src/plane/verbs/move.ts': 'moves rows of types without a feed',
      'src/plane/reconcile/claim.ts': 'schedules work',
      'src/plane/reconcile/record.ts': 'records work under its claim; types with a feed have none',
    },
  },
  {
    what: 'types of rights and of their scopes name a feed',
    folder: 'src/providers',
    pattern:
      /defineStored<(?:RoleAssignment|RoleDefinition|DenyAssignment|ManagementGroup|GroupSubscription)>\((?![\s\S]*\bfeed: ')/,
    bad: "defineStored<RoleAssignment>({ type: 'Authorization/roleAssignments' })",
    good: "defineStored<RoleAssignment>({ feed: 'authorization' })",
    allowed: {},
  },
  {
    what: 'limits ask hasRoom',
    folder: 'src/providers',
    pattern: /\breader\.count\(|\binside\.count\(/,
    bad: 'if ((await reader.count(query)) < limit) return []',
    good: 'if (await reader.hasRoom(query)) return []',
    allowed: {
      'src/providers/authorization/domain/lock-guard.ts': 'whether there is any lock',
      'src/providers/api-management/domain/counted-list.ts': 'the length of a list that is shown',
      'src/providers/data-share/resources/consumer-invitations/resource.ts':
        'a number that is shown',
      'src/providers/data-share/domain/synchronizations/actions.ts': 'whether there is any mapping',
      'src/providers/resources/domain/export-template.ts': 'how many would be read',
      'src/providers/resources/domain/stacks/deny.ts':
        'a step of a stack counts once, outside of transactions',
    },
  },
]

/** Ports that only read are none. */
function found({ pattern }: Rule, text: string): boolean {
  const code = text
    .replaceAll(/\/\*[\s\S]*?\*\/|^import .*$/gm, '')
    .replaceAll(/Pick<Sql, '(?:all|scan)'>/g, 'Reads')
  return pattern.test(code)
}

describe('what is written alone', () => {
  for (const rule of rules) {
    test(rule.what, () => {
      assert.equal(found(rule, rule.bad), true)
      assert.equal(found(rule, rule.good), false)
      const files = sourceFiles(rule.folder).filter(({ isTest }) => !isTest)
      const paths = files.filter(({ text }) => found(rule, text)).map(({ path }) => path)
      assert.deepEqual(paths, Object.keys(rule.allowed).sort())
    })
  }
})
