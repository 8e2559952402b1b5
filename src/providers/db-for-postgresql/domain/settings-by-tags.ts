/**
 * Options of one migration that its tags set instead of the installation's settings. The contract has no property
 * for them, and every client can send tags.
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

/** Tag names ignore case. */
function find(tags: Tags, name: Name): string | undefined {
  return Object.entries(tags ?? {}).find(([tag]) => tag.toLowerCase() === name)?.[1]
}

// The keys are the names declared above.
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

/** The options that differ between both sets of tags. They take effect when the worker starts. */
export function changedSettings(before: Tags, after: Tags): readonly Name[] {
  return names.filter((name) => find(before, name) !== find(after, name))
}

/** A value out of bounds counts as absent. The rules refuse it. */
export function settingsBy(tags: Tags, settings: MigrationSettings): MigrationSettings {
  const said = (name: Name): string | undefined => {
    const value = find(tags, name)
    const allowed: readonly string[] = words[name]
    return value !== undefined && allowed.includes(value) ? value : undefined
  }
  return {
    ...settings,
    // The rules accept only the words declared above.
    fence: (said('migration-fence') ?? settings.fence) as MigrationSettings['fence'],
    verify: (said('migration-verify') ?? settings.verify) as MigrationSettings['verify'],
    tablesAtOnce: Number(said('migration-tables-at-once') ?? settings.tablesAtOnce),
    databasesAtOnce: Number(said('migration-databases-at-once') ?? settings.databasesAtOnce),
  }
}
