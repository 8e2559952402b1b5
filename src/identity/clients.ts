/**
 * Decides who may ask the OAuth server for tokens: three built-in public clients, and the principals of the
 * directory that have secrets. Turns them into the library's client metadata.
 */

import type { IdentityDirectory } from './directory.ts'
import type { PrincipalRecord } from './principal-record.ts'
import { parseObjectId } from './principal-rules.ts'

/** The command line. It uses a device code, or a code with PKCE to a loopback address on any port. */
const cliClientId = 'armature-cli'
/** The portal and the built-in signed-in page. Both are served from the public URL. */
export const portalClientId = 'armature-portal'

/** The console: a page of this installation in the browser. */
export const consoleClientId = 'armature-console'

/** Applications of our own in the browser, which are at every address of the installation. */
export const ownPageClients: readonly string[] = [portalClientId, consoleClientId]
export const consoleRedirectPath = '/console/signed-in'
export const consolePath = '/console/'

/** True for the clients that are part of this product. Asking the user to trust them would be pointless. */
export function isFirstParty(clientId: string): boolean {
  return [cliClientId, portalClientId, consoleClientId].includes(clientId)
}

const browserFlows = {
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code', 'id_token token', 'id_token'],
}

export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

/** The library ignores the port of loopback addresses for native clients (RFC 8252, 7.3). */
const nativeClient = {
  application_type: 'native',
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token', deviceGrant],
  response_types: ['code'],
}

/**
 * Redirect addresses are compared as text without the port. Some clients end the host with a slash and some do not.
 */
const loopbackRedirects = ['127.0.0.1', 'localhost', '[::1]'].flatMap((host) => [
  `http://${host}`,
  `http://${host}/`,
  `http://${host}/callback`,
])

export function builtInClients(publicUrl: string): readonly Record<string, unknown>[] {
  return [
    {
      client_id: cliClientId,
      client_name: 'Armature command line',
      ...nativeClient,
      redirect_uris: loopbackRedirects,
    },
    {
      client_id: portalClientId,
      client_name: 'Armature',
      application_type: 'web',
      token_endpoint_auth_method: 'none',
      redirect_uris: [`${publicUrl}/signed-in`],
      post_logout_redirect_uris: [`${publicUrl}/`],
      // The library demands https for the addresses only when `implicit` is listed here; it adds the grant itself.
      ...browserFlows,
    },
    {
      client_id: consoleClientId,
      client_name: 'Armature console',
      application_type: 'web',
      token_endpoint_auth_method: 'none',
      redirect_uris: [`${publicUrl}${consoleRedirectPath}`],
      post_logout_redirect_uris: [`${publicUrl}${consolePath}`],
      ...browserFlows,
    },
  ]
}

/** A principal's metadata as a client; `undefined` for a principal that may not act now. */
export async function findClient(
  directory: Pick<IdentityDirectory, 'clientPrincipal'>,
  clientId: string,
): Promise<Record<string, unknown> | undefined> {
  // What is kept for a client is found by its id as it is written here.
  if (parseObjectId(clientId) !== clientId) return undefined
  const principal = await directory.clientPrincipal(clientId)
  return principal === undefined ? undefined : clientMetadata(clientId, principal)
}

function clientMetadata(clientId: string, principal: PrincipalRecord): Record<string, unknown> {
  if (principal.publicClient) {
    return {
      client_id: clientId,
      client_name: principal.displayName,
      ...nativeClient,
      redirect_uris: [...loopbackRedirects, ...principal.redirectUris],
    }
  }
  const browsers = principal.redirectUris.length > 0
  return {
    client_id: clientId,
    client_name: principal.displayName,
    application_type: 'web',
    token_endpoint_auth_method: 'client_secret_post',
    // The library's schema requires a value. Nothing is compared with it: the directory verifies secrets.
    client_secret: `unused-${principal.id}`,
    redirect_uris: [...principal.redirectUris],
    grant_types: ['client_credentials', ...(browsers ? browserFlows.grant_types : [])],
    response_types: browsers ? browserFlows.response_types : [],
  }
}
