/**
 * The endpoints of a cloud, as command lines ask for them to register it. Services that do not exist here have an
 * empty address. Pure.
 */

/** Before this version the answer is one object in the oldest form. */
const listSince = '2018-05-01'
/** From this version on it is one object again. */
const objectSince = '2022-09-01'

/** `undefined`: there is no such version. */
export function cloudEndpoints(version: string, publicUrl: string): object | undefined {
  // Older command lines use this version.
  if (version === '1.0') return oldest(publicUrl)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(version)) return undefined
  if (version < listSince) return oldest(publicUrl)
  const cloud = cloudOf(publicUrl)
  return version < objectSince ? [cloud] : cloud
}

/**
 * For the command line that registers a cloud. It asks a public service whether to trust an authority, unless the
 * authority's address ends in this word.
 */
function oldest(publicUrl: string): object {
  return {
    galleryEndpoint: '',
    graphEndpoint: publicUrl,
    portalEndpoint: publicUrl,
    authentication: { loginEndpoint: `${publicUrl}/adfs`, audiences: [publicUrl] },
  }
}

function cloudOf(publicUrl: string): object {
  return {
    name: 'Armature',
    portal: publicUrl,
    authentication: {
      loginEndpoint: publicUrl,
      audiences: [publicUrl],
      tenant: 'common',
      identityProvider: 'AAD',
    },
    resourceManager: publicUrl,
    graph: publicUrl,
    graphAudience: publicUrl,
    // Newer clients take this one, and would otherwise turn to a public directory.
    microsoftGraphResourceId: publicUrl,
    media: '',
    batch: '',
    gallery: '',
    sqlManagement: '',
    vmImageAliasDoc: '',
    suffixes: { storage: '', keyVaultDns: '', sqlServerHostname: '', acrLoginServer: '' },
  }
}
