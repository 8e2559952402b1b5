/** The api-versions that a template's `apiProfile` gives to resources without one (decision 0170). */
import { type Field, isArray, isObject } from './fields.ts'
import type { ExpansionContext } from './plan.ts'
import type { Problems } from './problems.ts'

const latest = 'latest'
/** Published profiles are named by a day and a word: `2020-09-01-hybrid`. */
const profilePattern = /^(\d{4}-\d{2}-\d{2})(-[a-z]+)?$/i

/** As it is written, with the dashes of a printed page made plain. */
export function readApiProfile(field: Field | undefined, problems: Problems): string | undefined {
  if (field === undefined || field.value === '' || field.value === null) return undefined
  const { value, path } = field
  const text = typeof value === 'string' ? value.replaceAll('–', '-') : ''
  if (text.toLowerCase() === latest || profilePattern.test(text)) return text
  problems.add(path, "expected 'latest' or the name of a profile, such as '2020-09-01-hybrid'")
  return undefined
}

/**
 * The newest version that the type had on the day of the profile, a preview only where there was nothing else; of a
 * younger type its first one. A type that nobody here knows has the day itself.
 */
export function profileVersion(
  { provider }: Pick<ExpansionContext, 'provider'>,
  profile: string,
  type: string,
): string {
  const day = profilePattern.exec(profile)?.[1]
  const known = versionsOf(provider, type).toSorted()
  const until = day === undefined ? known : known.filter((one) => one.slice(0, day.length) <= day)
  const isStable = (one: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(one)
  return (
    until.findLast(isStable) ?? until.at(-1) ?? known.find(isStable) ?? known[0] ?? day ?? profile
  )
}

function versionsOf(provider: ExpansionContext['provider'], type: string): readonly string[] {
  const [namespace = '', ...rest] = type.split('/')
  const wanted = rest.join('/').toLowerCase()
  const types = provider?.(namespace, rest.join('/'))?.['resourceTypes'] ?? null
  const found = isArray(types)
    ? types.find((one) => isObject(one) && String(one['resourceType']).toLowerCase() === wanted)
    : undefined
  const versions = isObject(found) ? (found['apiVersions'] ?? null) : null
  return isArray(versions) ? versions.filter((one) => typeof one === 'string') : []
}
