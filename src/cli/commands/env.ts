/** `env`: prints shell variables that point the usual clients to this installation. */

import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import tls from 'node:tls'
import { replaceFile } from '#files/replace-file.ts'
import { findAuthority } from '../authority.ts'
import { type Command, defineCommand } from '../command.ts'
import { notRunning } from '../credential.ts'
import type { Home } from '../home.ts'
import { printRecord } from '../output/print.ts'
import { quote } from './demo/format-call.ts'

export const command: Command = defineCommand({
  name: 'env',
  summary: 'What a shell needs to point the usual clients here',
  arguments: [],
  options: {
    credentials: {
      type: 'boolean',
      summary:
        'The credentials of the local owner besides, for libraries that read them from the environment',
    },
    shell: {
      type: 'string',
      value: 'name',
      choices: ['sh', 'powershell'],
      summary: 'Whose words; sh when left out',
    },
  },
  examples: ['env', 'env --credentials', 'env --shell powershell', 'env --json'],
  async run(context, { credentials, shell = 'sh' }) {
    const home = context.home()
    const running = home.running()
    if (running === undefined) throw notRunning(home)
    const url = running.httpsUrl === undefined ? running.url : running.httpsUrl
    const variables: Record<string, string> = {
      ARMATURE_URL: url,
      AZURE_AUTHORITY_HOST: url,
      AZURE_TENANT_ID: running.tenantId,
      AZURE_SUBSCRIPTION_ID: running.subscriptionId,
      ...(running.httpsUrl === undefined ? {} : trustVariables(home)),
      ...(credentials ? credentialVariables(home, url) : {}),
    }
    if (context.terminal.output.isChosen) {
      printRecord(context.terminal, variables)
      return 0
    }
    const lines = Object.entries(variables).map(([name, value]) =>
      shell === 'sh'
        ? `export ${name}=${quote(value)}`
        : `$env:${name} = '${value.replaceAll("'", "''")}'`,
    )
    context.terminal.out(`${lines.join('\n')}\n`)
    return 0
  },
})

/**
 * Node adds the file to its authorities; the other programs replace theirs, so their file includes the public ones.
 */
function trustVariables(home: Home): Record<string, string> {
  const authority = findAuthority(home)
  const folder = join(home.folder, 'tls')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const bundle = join(folder, 'bundle.pem')
  const certificates = [readFileSync(authority, 'utf8').trim(), ...tls.rootCertificates]
  replaceFile(bundle, `${certificates.join('\n')}\n`, { mode: 0o644 })
  return {
    NODE_EXTRA_CA_CERTS: authority,
    REQUESTS_CA_BUNDLE: bundle,
    CURL_CA_BUNDLE: bundle,
    SSL_CERT_FILE: bundle,
  }
}

/**
 * The variables with which the family's libraries sign in by themselves: as an application, or as a managed
 * identity.
 */
function credentialVariables(home: Home, url: string): Record<string, string> {
  const owner = home.owner()
  const secret = home.localTokenSecret()
  return {
    ...(owner === undefined
      ? {}
      : { AZURE_CLIENT_ID: owner.clientId, AZURE_CLIENT_SECRET: owner.clientSecret }),
    ...(secret === undefined
      ? {}
      : { IDENTITY_ENDPOINT: `${url}/common/identity/token`, IDENTITY_HEADER: secret }),
  }
}
