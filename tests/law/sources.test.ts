/** Laws about the sources: few, each with its reason in the message and a bad example. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { importsOf, rootDocuments, sourceFiles } from './source.ts'

const sources = sourceFiles('src').filter((file) => !file.isTest)

interface Law {
  readonly name: string
  readonly pattern: RegExp
  readonly reason: string
  /** Files that are allowed to, each with the reason. */
  readonly except: Readonly<Record<string, string>>
  readonly bad: string
}

/**
 * Deadlines of sockets and of other programs pass on the machine, however fast the installation's time goes (decision 77).
 * `folders` are those of programs of their own.
 */
const deadline = 'a deadline of a socket, a thread or another program'
const timedByTheMachine: Readonly<Record<string, string>> = {
  'src/activity/queue.ts': 'gathers records for a moment before they are written',
  'src/business/following/history.ts':
    'looks again whether transactions of the database have ended',
  'src/client/timing.ts': 'the client’s own time',
  'src/engines/containers/docker/client.ts': deadline,
  'src/engines/containers/docker/executions.ts': deadline,
  'src/engines/containers/docker/session.ts': deadline,
  'src/engines/containers/kubernetes/group-store.ts': deadline,
  'src/engines/containers/probe.ts': deadline,
  'src/engines/copy/blobs/blob-puller.ts': deadline,
  'src/engines/copy/blobs/blob-source.ts': deadline,
  'src/engines/copy/blobs/bounded-client.ts': deadline,
  'src/engines/copy/files/folder-sink.ts': deadline,
  'src/engines/copy/tables/duckdb-files.ts': deadline,
  'src/engines/copy/worker/main.ts': 'looks at the memory of its own process',
  'src/engines/copy/worker/worker-engine.ts': deadline,
  'src/engines/repositories/git-program.ts': deadline,
  'src/client/client.ts': deadline,
  'src/engines/repositories/git-repositories.ts': deadline,
  'src/http/change-stream.ts': 'looks whether there is something to tell; it costs nothing else',
  'src/http/connections.ts': deadline,
  'src/http/encrypted-input.ts': deadline,
  'src/http/permission-watch.ts': 'looks whether what is open may stay so; it costs nothing else',
  'src/http/server.ts': deadline,
  'src/http/slow-readers.ts': deadline,
  'src/http/streams.ts': deadline,
  'src/http/web-socket/accept-web-socket.ts': deadline,
  'src/identity/assertions.ts': deadline,
  'src/identity/external-issuers.ts': deadline,
  'src/installation/outside-key.ts': deadline,
  'src/installation/rotation.ts': 'waits for other processes',
  'src/main/readiness.ts': deadline,
  'src/main/template-links.ts': deadline,
  'src/main/token-endpoint.ts': deadline,
  'src/outbound/bounded-handshake.ts': 'rests by what it has spent; no moment comes from it',
  'src/outbound/forward-proxy.ts': deadline,
  'src/outbound/names/names.ts': 'ends a process that nobody needs',
  'src/outbound/names/main.ts': 'tells slow names apart, in a process of its own',
  'src/outbound/tls-thread/secure-connection.ts': 'ends a thread that nobody needs',
  'src/providers/container-instance/domain/groups/command-pace.ts':
    'rests by what the machine has spent; no moment comes from it',
  'src/providers/resources/domain/evaluation/template-threads.ts': deadline,
  'src/stores/postgres/listener.ts': deadline,
  'src/stores/postgres/store.ts': deadline,
  'src/threads/limited-threads.ts': deadline,
  'src/tls/certificates.ts': 'looks at files that another program writes',
}
const machinePrograms = /^src\/(?:cli|engines\/databases\/postgres)\//

const laws: readonly Law[] = [
  {
    name: 'the clock is a parameter',
    pattern:
      /\bDate\.now\b|\bnew Date(?:\(\)|;|$)|[^\w.]Date\(\)|\bperformance\.(?:now|timeOrigin)\b|\bhrtime\b|\bprocess\.uptime\b|\bTemporal\.Now\b/,
    reason:
      'time comes in through `Clock` (kernel/ports.ts), so that tests and operators can move it',
    except: {
      'src/main.ts': 'the real clock is made here',
      'src/client/timing.ts': 'the client’s own clock is made here',
      'src/cli/commands/demo/shop.ts': 'measures a pause as its clients feel it',
      'src/cli/commands/serve.ts': 'tells two signals of one keystroke apart',
      'src/stores/next-turn.ts':
        'measures how long a turn of the loop takes; no moment comes from it',
      'src/engines/copy/elapsed.ts':
        'a process of its own paces itself by it; no moment comes from it',
      'src/engines/databases/postgres/looks/main.ts':
        'a process of its own: its composition root, and so its clock',
      'src/engines/databases/postgres/worker.ts':
        'a process of its own: its composition root, and so its clock',
      'src/providers/resources/domain/evaluation/thread.ts':
        'a thread of its own measures what it spends; no moment comes from it',
    },
    bad: 'const now = Date.now()',
  },
  {
    name: 'no statement reads the clock of a database',
    pattern:
      /\bclock_timestamp\(|\bnow\(\) at time zone|\b(?:pg_catalog\.|select |SELECT )now\(|\bcurrent_(?:date|time|timestamp)\b|\b(?:date|time|datetime|julianday|unixepoch|strftime)\((?:'[^']*', *)?'now'/i,
    reason: 'a moved clock does not move it: give the statement a moment of `Clock`',
    except: {
      'src/stores/postgres/statements.ts':
        'leases of several processes end by the one clock that all of them share',
      'src/business/migrations.ts': 'a released migration, which is never changed',
      'src/engines/databases/postgres/fence.ts': 'asks a server that is migrated about itself',
      'src/engines/databases/postgres/replication.ts':
        'asks a server that is migrated about itself',
    },
    bad: "date('now', '-30 days')",
  },
  {
    name: 'timers are a parameter',
    pattern:
      /\bset(?:Timeout|Interval)\((?!\d)|\bAbortSignal\.timeout\(|import \{[^}]*\bsetTimeout\b[^}]*\} from 'node:timers/,
    reason:
      'what waits for time to pass goes by `Timers` (kernel/ports.ts), so that the clock can be moved under it',
    except: {
      'src/main.ts': 'the machine’s timers are made here',
      ...timedByTheMachine,
    },
    bad: 'setTimeout(callback, 1000)',
  },
  {
    name: 'the environment is read in one file',
    pattern: /\bprocess\.env\b/,
    reason: 'settings are read in src/config.ts, where each is typed and documented',
    except: {
      'src/config.ts': 'the one reader',
      'src/embedded/index.ts': 'asks whether coverage is counted, which is no setting of ours',
    },
    bad: "process.env['HOME']",
  },
  {
    name: 'no type escapes',
    pattern: /\bas any\b|: any\b|@ts-ignore|@ts-expect-error|@ts-nocheck/,
    reason: 'what the compiler cannot see, nobody checks',
    except: {},
    bad: 'const x = y as any',
  },
  {
    name: 'no unfinished business',
    pattern: /\b(TODO|FIXME|XXX|HACK)\b/,
    reason: 'what is not finished is left out and named in an issue',
    except: {},
    bad: '// TODO later',
  },
  {
    name: 'no expression looks for the end from everywhere',
    pattern: /(?:[(=,:?] ?\/|[+*)]\|)(?:\\.|\[(?:\\.|[^\]\\])+\]|[^\s\\[\]/|^()])[+*]\$(?:\/|\|)/,
    reason:
      'it is quadratic in a text of many such characters: `withoutTrailing` (kernel/trailing.ts) takes them off',
    except: {},
    bad: "text.replace(/\\/+$/, '')",
  },
]

/**
 * Adapters (stores, engines, identity, client, command line) translate foreign errors where they occur. In other
 * areas, `catch` is allowed only in these files: elsewhere it would hide something.
 */
const catchers: Readonly<Record<string, string>> = {
  'src/plane/verbs/replace-tags.ts': 'a race that was lost to another writer is run again',
  'src/plane/caller.ts': 'a rehearsal answers refusals, and is rolled back by what it throws',
  'src/plane/puts-together.ts': 'what is refused or fails in company is sent alone',
  'src/providers/resources/domain/deployments/attempt.ts':
    'the refusal of one resource is news of it',
  'src/providers/resources/domain/evaluation/thread.ts':
    'errors lose their class on the way out of a thread, so they travel as values',
  'src/providers/resources/domain/deployments/expand.ts': 'what a thread refuses becomes a refusal',
  'src/template/evaluate.ts': 'a failure is told where in the expression it happened',
  'src/template/try-evaluate.ts': 'an expression that fails is one problem of several',
  'src/template/compile.ts': 'an expression that is none is one problem of several',
  'src/kernel/resource-id.ts': 'decodeURIComponent has no other way to say no',
  'src/kernel/lease.ts': 'a store that does not answer now is asked again',
  'src/plane/continuation-tokens.ts':
    'a token that was changed is recognized by an error of the platform',
  'src/threads/answer-tasks.ts':
    'errors lose their class on the way out of a thread, so they travel as values',
  'src/threads/limited-threads.ts': 'what fails in a thread ends the thread',
  'src/business/documents/pdf-maker.ts': 'a limit of a thread becomes a refusal',
  'src/providers/api-management/domain/openapi/document-reader.ts':
    'a limit of a thread becomes a refusal',
  'src/plane/run-within.ts': 'a script that took too long is told by an error of the platform',
  'src/plane/create-plane.ts': 'a denial is noted and goes on its way',
  'src/plane/verbs/move.ts': 'what was only validated is rolled back by what it throws',
  'src/plane/verbs/write.ts': 'the store says so when a unique key is taken',
  'src/plane/reconcile/claim.ts': 'the world fails; background work tries again',
  'src/plane/reconcile/step.ts': 'the world fails; background work tries again',
  'src/providers/container-instance/domain/engine-failure.ts':
    'failures of the engine become values',
  'src/business/documents/logo.ts': 'the unpacker of the platform has no other way to say no',
  'src/business/outbox/mail-channel.ts': 'a PDF that is refused is a mail that cannot be delivered',
  'src/business/failure.ts': 'refusals become answers, each by itself inside a batch',
  'src/business/outbox/deliver.ts': 'the world fails; background work tries again',
  'src/business/odata/address.ts': 'decodeURIComponent has no other way to say no',
  'src/business/odata/batch.ts': 'a change set that is taken back is an answer',
  'src/business/odata/paging.ts': 'a token that cannot be read is refused',
  'src/business/odata/request.ts': 'the decoders of the platform have no other way to say no',
  'src/providers/billing/domain/imports/formats.ts':
    'JSON.parse and the CSV parser have no other way to say no',
  'src/providers/billing/provider.ts':
    'what was closed before a later step failed is answered; the failure is logged',
  'src/providers/billing/domain/metering/background.ts':
    'the world fails; background work tries again',
  'src/providers/resources/domain/evaluation/evaluations.ts':
    'an expression that fails ahead of its question is asked by itself',
  'src/providers/api-management/domain/openapi/import.ts':
    'readers of JSON and of YAML have no other way to say no',
  'src/providers/api-management/domain/consent/refresh-tokens.ts':
    'the world fails; background work tries again',
  'src/providers/resource-health/domain/background.ts':
    'the world fails: that is what a probe tells',
  'src/providers/data-share/domain/runs/runner.ts': 'copies fail in the world: a record says so',
  'src/providers/db-for-postgresql/domain/engine-failure.ts':
    'failures of the engine become values',
  'src/http/failure.ts': 'the one place that turns errors into answers',
  'src/http/streams.ts': 'what a stream talks with fails in the world; its client is told',
  'src/http/change-stream.ts': 'a store that does not answer now is looked at again',
  'src/http/permission.ts': 'a refused token is an answer to whether it still holds',
  'src/http/permission-watch.ts': 'a store that does not answer is counted, and ends what is open',
  'src/http/metrics.ts': 'a source that fails is left out of one scrape',
  'src/http/json.ts': 'JSON.parse has no other way to say no',
}
const house = /^src\/(kernel|plane|providers|http|template|business|main\.ts)/
const catching = /\bcatch\b\s*[({]|\.catch\(/

function strip(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
}

describe('laws of the sources', () => {
  for (const law of laws) {
    test(law.name, () => {
      assert.match(law.bad, law.pattern, 'the known-bad example must be caught')
      const text = law.name === 'no unfinished business' ? (x: string) => x : strip
      for (const file of sources) {
        if (law.except[file.path] !== undefined) continue
        if (law.name === 'timers are a parameter' && machinePrograms.test(file.path)) continue
        assert.ok(
          !law.pattern.test(text(file.text)),
          `${file.path}: ${law.name}, because ${law.reason}`,
        )
      }
      for (const path of Object.keys(law.except)) {
        assert.ok(
          sources.some((file) => file.path === path),
          `${path} is excepted and does not exist`,
        )
      }
    })
  }

  test('every file says what it is for', () => {
    for (const file of sources) {
      if (file.path.endsWith('.d.ts')) continue
      assert.ok(file.text.startsWith('/**'), `${file.path} does not open with what it is for`)
    }
  })

  test('no file is past comfort', () => {
    for (const file of sources) {
      const lines = file.text.split('\n').length
      assert.ok(lines <= 520, `${file.path} has ${lines} lines: is it one thing?`)
    }
  })

  test('a wait of a test has an end', () => {
    const endless = /\bwhile \(.*\)\s*\{?\s*await (?:sleep|pause|setTimeout|new Promise)\b/
    const bad = 'while (open() > 0) await sleep(10)'
    assert.match(bad, endless)
    const tests = ['src', 'tests'].flatMap((folder) => sourceFiles(folder))
    for (const file of tests.filter(({ path, isTest }) => isTest || path.startsWith('tests/'))) {
      assert.ok(
        !endless.test(file.text.replace(bad, '')),
        `${file.path}: use until() of tests/until.ts, which fails where it would wait for ever`,
      )
    }
  })

  test('a bound has a name and stands where it is looked for', () => {
    const inside = /^[ \t]+const \w+(?:Max|Min) = -?\d/m
    assert.match('function x() {\n  const rowsMax = 100\n}', inside)
    for (const file of sources) {
      assert.doesNotMatch(
        strip(file.text),
        inside,
        `${file.path}: a bound inside a function; move it up`,
      )
    }
  })

  test('property tests take fast-check from tests/property.ts', () => {
    const tests = [...sourceFiles('src'), ...sourceFiles('tests')]
    const found = tests.filter(({ text }) => importsOf(text).includes('fast-check'))
    assert.deepEqual(
      found.map(({ path }) => path),
      ['tests/property.ts'],
    )
  })

  test('names say what a thing is', () => {
    for (const file of sources) {
      assert.doesNotMatch(
        file.path,
        /(?:^|[/-])(?:utils?|helpers?|common|misc|base|manager)(?:[/.-]|$)/,
        `${file.path}: the thing has a name; find it`,
      )
    }
  })

  test('links in documents resolve', () => {
    for (const folder of ['docs', 'src', 'bench', '.']) {
      for (const file of folder === '.' ? rootDocuments() : sourceFiles(folder, '.md')) {
        const text = file.text.replaceAll(/`[^`\n]*`/g, '')
        for (const [, target = ''] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
          if (/^[a-z]+:/.test(target)) continue
          const path = join(import.meta.dirname, '../..', dirname(file.path), target)
          assert.ok(existsSync(path), `${file.path} links to ${target}, which is not there`)
        }
      }
    }
  })

  test('catch stands only where a foreign error is translated', () => {
    assert.match('try { x() } catch { }', catching, 'the known-bad example must be caught')
    for (const file of sources) {
      if (!house.test(file.path) || catchers[file.path] !== undefined) continue
      assert.ok(
        !catching.test(strip(file.text)),
        `${file.path} catches: let it reach http/failure.ts`,
      )
    }
    for (const path of Object.keys(catchers)) {
      const file = sources.find((one) => one.path === path)
      assert.ok(
        file !== undefined && catching.test(file.text),
        `${path} need not be listed any more`,
      )
    }
  })
})
