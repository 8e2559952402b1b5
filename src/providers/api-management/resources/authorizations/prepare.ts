/** What an authorization needs from elsewhere before it becomes a model: its provider's grant, and a token. */

import { parentOf, type ResourceId } from '#kernel/resource-id.ts'
import type { Context } from '#plane/declare/resource.ts'
import type { ConsentDependencies } from '../../dependencies.ts'
import { obtainByCredentials } from '../../domain/consent/tokens.ts'
import { serviceLocation } from '../../domain/service-location.ts'
import { refuseFields } from '../../errors.ts'
import type { AuthorizationProvider } from '../authorization-providers/model.ts'
import type { AuthorizationBody, PreparedAuthorization } from './versions/2022-04-01-preview.ts'

/** Runs before the write: reads the provider's grant, and gets a token at once for client credentials. */
export async function prepareAuthorization(
  deps: ConsentDependencies,
  { id, reader }: Context & { readonly id: ResourceId },
  { obtained: _callers, ...given }: AuthorizationBody & Pick<PreparedAuthorization, 'obtained'>,
): Promise<PreparedAuthorization> {
  const above = await reader.get(parentOf(id))
  const asked = given.properties.oauth2grantType
  const place = await serviceLocation(reader, id, 2)
  // The write is refused later because the provider is missing.
  if (above === undefined) return { ...given, place, grant: asked ?? 'AuthorizationCode' }
  const provider = above.model as AuthorizationProvider
  const grant = asked ?? provider.grantType
  if (grant !== provider.grantType) {
    throw refuseFields([
      {
        path: 'properties.oauth2grantType',
        message: `must be ${provider.grantType}, the grant of the authorization provider`,
      },
    ])
  }
  if (grant === 'AuthorizationCode') return { ...given, place, grant }
  return { ...given, place, grant, obtained: await obtainByCredentials(deps, id.key, provider) }
}
