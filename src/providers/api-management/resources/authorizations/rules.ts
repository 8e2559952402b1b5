/** Rules for the names on the path of an authorization, and the number of authorizations per provider. */

import type { ApiError } from '#kernel/error.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { RuleContext } from '#plane/declare/stored.ts'
import { types } from '../../domain/consent/model.ts'
import { refuseFields } from '../../errors.ts'
import type { Authorization } from './model.ts'

/** Facts 3.1, limits. */
const authorizationsMax = 10_000

export async function authorizationRules({
  id,
  previous,
  reader,
}: RuleContext<Authorization>): Promise<readonly never[]> {
  if (previous !== undefined) return []
  const under = id.key.slice(0, id.key.lastIndexOf('/authorizations/'))
  const query = { type: types.authorizations, under, limit: authorizationsMax }
  if (await reader.hasRoom(query)) return []
  throw refuseFields([
    { path: 'name', message: `a provider has at most ${authorizationsMax} authorizations` },
  ])
}

/** The patterns and lengths of the contract, even for a path where nothing can exist. */
export function badName(id: ResourceId): ApiError | undefined {
  const [service = '', ...below] = id.segments.at(-1)?.names ?? []
  const problems = [
    ...(servicePattern.test(service) ? [] : [{ path: 'serviceName', message: serviceRule }]),
    ...below.flatMap((name, at) =>
      below256.test(name)
        ? []
        : [
            {
              path: ['authorizationProviderId', 'authorizationId'][at] ?? 'name',
              message: 'must be 1 to 256 characters, none of * # & + : < > ?',
            },
          ],
    ),
  ]
  return problems.length === 0 ? undefined : refuseFields(problems)
}

const below256 = /^[^*#&+:<>?]{1,256}$/
const servicePattern = /^[a-zA-Z](?:[a-zA-Z0-9-]{0,48}[a-zA-Z0-9])?$/
const serviceRule = 'must be 1 to 50 letters, digits and hyphens, a letter first and no hyphen last'
