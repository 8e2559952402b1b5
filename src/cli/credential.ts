/**
 * Chooses the installation and the token: what the command line says, else the session of `login`, else the local
 * owner of this home's installation.
 */

import { clientCredentialsToken, refreshedToken } from '#client/oauth.ts'
import { systemTiming } from '#client/timing.ts'
import { withoutTrailing } from '#kernel/trailing.ts'
import { LocalProblem } from './command.ts'
import type { Home, OwnerFile, RunningFile, SessionFile } from './home.ts'
import { httpFetch } from './http-fetch.ts'

interface Chosen {
  /** The installation's address, as clients know it. */
  readonly url: string
  /** The address that requests from here go to. */
  readonly reach: string
  readonly running: RunningFile | undefined
  token(refused?: string): Promise<string>
}

interface Wanted {
  readonly url: string | undefined
  readonly token: string | undefined
}

/** Throws `LocalProblem` when there is no installation, or no credential for it. */
export function chooseCredential(home: Home, wanted: Wanted): Chosen {
  const session = home.session()
  const local = home.running()
  const url = trim(wanted.url ?? session?.url ?? local?.url)
  if (url === undefined) throw notRunning(home)
  const isLocal = local !== undefined && addressesOf(local).some((one) => trim(one) === url)
  const running = isLocal ? local : undefined
  const reach = trim(running?.localUrl) ?? url
  const chosen = (token: Chosen['token']): Chosen => ({ url, reach, running, token })
  const given = wanted.token
  if (given !== undefined) return chosen(async () => given)
  if (session !== undefined && trim(session.url) === url) {
    return chosen(() => sessionToken(home, session, reach))
  }
  const owner = isLocal ? home.owner() : undefined
  if (owner !== undefined) return chosen((refused) => ownerToken(home, owner, reach, refused))
  throw new LocalProblem(
    'NoCredential',
    `There is no credential for ${url}. Give --token, or sign in: armature login --url ${url}`,
  )
}

export function notRunning(home: Home): LocalProblem {
  return new LocalProblem(
    'NotRunning',
    `No installation is running with the home ${home.folder}. Start it with \`npm start\` or \`npx armature serve\`, or set ARMATURE_HOME to its home.`,
  )
}

/** A token is renewed so long before it expires. */
const spareMilliseconds = 60_000

/** The token is kept for the next commands. The server may refuse it before its end: its clock may be moved. */
async function ownerToken(
  home: Home,
  { clientId, clientSecret }: OwnerFile,
  url: string,
  refused: string | undefined,
): Promise<string> {
  const now = systemTiming.now()
  const kept = home.token()
  const isValid = kept?.clientId === clientId && now + spareMilliseconds < kept.expiresAt
  if (isValid && kept.accessToken !== refused) return kept.accessToken
  const token = await clientCredentialsToken({ url, clientId, clientSecret, fetch: httpFetch })
  const { accessToken } = token
  home.writeToken({ clientId, accessToken, expiresAt: now + token.expiresInSeconds * 1000 })
  return accessToken
}

async function sessionToken(home: Home, session: SessionFile, url: string): Promise<string> {
  const now = systemTiming.now()
  if (now + spareMilliseconds < session.expiresAt) return session.accessToken
  const { refreshToken, clientId } = session
  if (refreshToken === undefined) {
    throw new LocalProblem(
      'SessionExpired',
      `The session at ${session.url} has ended. Sign in again: armature login --url ${session.url}`,
    )
  }
  const token = await refreshedToken({ url, clientId, refreshToken, fetch: httpFetch })
  home.writeSession({
    ...session,
    accessToken: token.accessToken,
    expiresAt: now + token.expiresInSeconds * 1000,
    refreshToken: token.refreshToken ?? refreshToken,
  })
  return token.accessToken
}

/** All addresses of the installation of a home. */
export function addressesOf(running: RunningFile | undefined): readonly string[] {
  const { url, localUrl, httpUrl, httpsUrl } = running ?? {}
  return [url, localUrl, httpUrl, httpsUrl].flatMap((one) => one ?? [])
}

function trim(url: string | undefined): string | undefined {
  return url === undefined ? undefined : withoutTrailing(url, '/')
}
