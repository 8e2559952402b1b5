/**
 * How one migration is done, where its tags say it otherwise than the settings of the installation: the contract has no
 * property for it, and tags are what every client can send.
 */

import type { Problem } from '#kernel/error.ts'
import type { MigrationSettings } from '../dependencies.ts'

type Tags = Readonly<Record<string, string>> | undefined

const oneTo = (most: number): readonly string[] =>
  Array.from({ length: most }, (_, index) => String(index + 1))

const words = {
  'migration-fence': ['none', 'cutover', 'stay'],
  'migration-verify': ['none', 'counts', 'checksums'],
  'migration-tables-at-once': oneTo(16),
  'migration-databases-at-once': oneTo(16),
} as const satisfies Record<string, readonly string[]>

type Name = keyof typeof words

/** Names of tags are the same in any case. */
function find(tags: Tags, name: Name): string | undefined {
  return Object.entries(tags ?? {}).find(([tag]) => tag.toLowerCase() === name)?.[1]
}

// The list is written out above.
const names = Object.keys(words) as Name[]
export const settingTags: readonly string[] = names

export function tagProblems(tags: Tags): readonly Problem[] {
  return names.flatMap((name) => {
    const value = find(tags, name)
    const allowed: readonly string[] = words[name]
    if (value === undefined || allowed.includes(value)) return []
    const range = allowed.length === 16 ? 'a whole number from 1 to 16' : allowed.join(', ')
    return [{ path: `tags.${name}`, message: `expected ${range}` }]
  })
}

/** Those that are different in both; they count when the worker begins. */
export function changedSettings(before: Tags, after: Tags): readonly Name[] {
  return names.filter((name) => find(before, name) !== find(after, name))
}

/** What is out of bounds, which the rules refuse, counts as not said. */
export function settingsBy(tags: Tags, settings: MigrationSettings): MigrationSettings {
  const said = (name: Name): string | undefined => {
    const value = find(tags, name)
    const allowed: readonly string[] = words[name]
    return value !== undefined && allowed.includes(value) ? value : undefined
  }
  return {
    ...settings,
    // One of the words above.
    fence: (said('migration-fence') ?? settings.fence) as MigrationSettings['fence'],
    verify: (said('migration-verify') ?? settings.verify) as MigrationSettings['verify'],
    tablesAtOnce: Number(said('migration-tables-at-once') ?? settings.tablesAtOnce),
    databasesAtOnce: Number(said('migration-databases-at-once') ?? settings.databasesAtOnce),
  }
}
