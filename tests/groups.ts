/**
 * Test files that run in one process: a start of Node costs a tenth of a second of a processor, and the modules that files
 * share are loaded once (decision 0243). Each file is a suite of its own. One that could leave something behind for
 * the next runs alone.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folders whose test files share a process. */
const folders = [
  'src/activity',
  'src/business',
  'src/cli',
  'src/control',
  'src/engines/containers',
  'src/engines/mail',
  'src/http',
  'src/identity',
  'src/installation',
  'src/kernel',
  'src/main',
  'src/outbound',
  'src/plane',
  'src/providers/api-management',
  'src/providers/authorization',
  'src/providers/billing',
  'src/providers/container-instance',
  'src/providers/data-share',
  'src/providers/db-for-postgresql',
  'src/providers/resource-health',
  'src/providers/resources',
  'src/providers/secrets',
  'src/stores',
  'src/template',
  'tests/law',
] as const

/**
 * Programs, threads, the state of the process, and hooks that would count for the other files, too. A file that only reads the
 * environment leaves nothing.
 */
const leaves =
  /child_process|worker_threads|process\.(?:chdir|on|once|exit|umask)|process\.env(?:\[[^\]]+\]|\.\w+)? (?:\?\?)?= |(?:delete |assign\()process\.env|globalThis|\bmock\b|(?:postgres-server|servers|podman|backends|azurite|launcher)\.ts|openMigrationFixture|^(?:before|after)Each\(/m

/** The same files, those that share a process as one file in `folder`. All paths are relative to `root`. */
export function groupFiles(
  files: readonly string[],
  root: string,
  folder: string,
): readonly string[] {
  const joins = (file: string): boolean => !leaves.test(readFileSync(join(root, file), 'utf8'))
  const groups = folders.flatMap((name) => {
    const group = files.filter((file) => file.startsWith(`${name}/`) && joins(file))
    return group.length < 2 ? [] : [{ name, group }]
  })
  const grouped = new Set(groups.flatMap(({ group }) => group))
  const made = groups.map(({ name, group }) => {
    const path = join(folder, `${name.replaceAll('/', '-')}.test.mjs`)
    writeFileSync(path, entryOf(group, root))
    return path
  })
  return [...made, ...files.filter((file) => !grouped.has(file))]
}

function entryOf(group: readonly string[], root: string): string {
  const suites = group.map((file) => {
    const path = JSON.stringify(join(root, file))
    return `describe(${JSON.stringify(file)}, async () => { await import(${path}) })\n`
  })
  return `import { describe } from 'node:test'\n${suites.join('')}`
}
