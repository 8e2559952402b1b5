/** `docs/reference/compatibility.md`: which published client did which operation, in which test. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Witness {
  readonly operation: string
  readonly client: string
  readonly version: string
  readonly test: string
}

type Witnesses = Readonly<Record<string, readonly Witness[]>>

/** In the order of the contract, then what goes around it. */
const rows = [
  'role assignment',
  'consent code',
  'container group',
  'transactions',
  'synchronization details',
  'health events of a subscription',
  'health events of one resource',
  'migration',
  'operation definitions',
  'sales lines',
  'sign-in',
  'groups and resources',
  'deployments',
  'locks',
  'identities',
  'PostgreSQL servers',
  'long-running operations',
  'paging',
  'retries',
  'errors',
]

const columns: readonly { readonly head: string; has(client: string): boolean }[] = [
  { head: 'Packages of npm', has: (client) => !/^(az|azure-mgmt-.*|python3?-.*)$/.test(client) },
  { head: 'Command line', has: (client) => client === 'az' },
  { head: 'Packages of Debian’s Python', has: (client) => client.startsWith('azure-mgmt-') },
]

/** `conformance` is the folder of the tests. Throws where a witness is of another version than the one installed by it. */
export function compatibilityPage(conformance: string): string {
  const read = (name: string): unknown => JSON.parse(readFileSync(join(conformance, name), 'utf8'))
  // Both are files of this repository.
  const all = read('witnesses.json') as Witnesses
  const { dependencies } = read('package.json') as { dependencies: Record<string, string> }
  const cells = Object.entries(all).flatMap(([file, list]) => {
    const text = readFileSync(join(conformance, file), 'utf8')
    const programs = [...text.matchAll(/'([\w-]+\.(?:mjs|py))'/g)].map(([, name]) =>
      readFileSync(join(conformance, 'programs', String(name)), 'utf8'),
    )
    const sources = [text, ...programs].join('\n')
    return list.map((witness) => {
      const { client, version, test, operation } = witness
      const pinned = dependencies[client]
      if (pinned !== undefined && pinned !== version) {
        throw new Error(`${file} ran with ${client} ${version}, and ${pinned} is installed: ${how}`)
      }
      if (!sources.includes(test)) throw new Error(`${file} has no test '${test}': ${how}`)
      if (!rows.includes(operation)) throw new Error(`'${operation}' is no row of the page`)
      return { ...witness, file }
    })
  })
  const lines = rows.map((row) => {
    const found = columns.map(({ has }) => {
      const here = cells.filter(({ operation, client }) => operation === row && has(client))
      const links = new Map(
        here.map(({ client, version, file }) => [
          `${client} ${version}`,
          `[${client} ${version}](../../tests/conformance/${file})`,
        ]),
      )
      return [...links.values()].join(', ')
    })
    return `| ${[row, ...found].join(' | ')} |`
  })
  const count = new Set(cells.map(({ test, file }) => `${file}\n${test}`)).size
  return `# Compatibility

Published clients, unmodified, against a started installation over https: a cell names the client and links the test that ran.
Written from what those ${count} tests registered as they passed (\`tests/conformance/witnesses.json\`), not by hand; a cell that is
empty was not tried. Tests of a file fail when they register anything else than the page says.

| operation | ${columns.map(({ head }) => head).join(' | ')} |
| --- | ${columns.map(() => '---').join(' | ')} |
${lines.join('\n')}
`
}

const how = 'run the file with ARMATURE_TEST_WITNESSES=write'
