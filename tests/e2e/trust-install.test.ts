/** `trust --install` in a mount namespace of its own, with copies of the system's certificate folders. */

import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { requireOrSkip } from '../require.ts'
import { startInstallation } from './installation.ts'

const folders = ['/etc/ssl', '/usr/local/share/ca-certificates']
const launcher = join(import.meta.dirname, '../../bin/armature.mjs')

/** Copies replace the folders for the programs in the namespace and nobody else. */
const ownFolders = folders
  .map((folder, at) => `cp -a ${folder} "$COPIES/${at}" && mount --bind "$COPIES/${at}" ${folder}`)
  .join(' && ')

function inNamespace(copies: string, script: string, environment: NodeJS.ProcessEnv) {
  const words = ['--mount', '--propagation', 'private', 'sh', '-ec', `${ownFolders}\n${script}`]
  const env = { ...process.env, ...environment, COPIES: copies }
  return promisify(execFile)('unshare', words, { env })
}

test('after `trust --install` the clients of the system reach the installation, and none did before', async (t) => {
  const isPossible =
    process.getuid?.() === 0 &&
    folders.every((folder) => existsSync(folder)) &&
    spawnSync('sh', ['-c', 'command -v update-ca-certificates curl']).status === 0 &&
    spawnSync('unshare', ['--mount', 'mount', '--bind', '/etc/ssl', '/etc/ssl']).status === 0
  if (
    !requireOrSkip(t, isPossible, 'it needs root, mount namespaces, curl and the store of Debian')
  ) {
    return
  }
  await using started = await startInstallation({
    environment: { ARMATURE_TLS: 'auto', ARMATURE_TLS_PORT: '0' },
  })
  // The server's own note.
  const { httpsUrl } = JSON.parse(readFileSync(join(started.home, 'running.json'), 'utf8')) as {
    readonly httpsUrl: string
  }
  const copies = join(started.home, 'copies')
  const bundle = readFileSync('/etc/ssl/certs/ca-certificates.crt')
  const script = `
    if curl -sf ${httpsUrl}/readyz; then echo trusted before; exit 1; fi
    "${process.execPath}" "${launcher}" trust --install 2>&1
    curl -sf ${httpsUrl}/readyz > /dev/null
    echo reached`
  const { stdout } = await promisify(execFile)('mkdir', [copies]).then(() =>
    inNamespace(copies, script, {
      ARMATURE_HOME: started.home,
      CURL_CA_BUNDLE: '',
      SSL_CERT_FILE: '',
      REQUESTS_CA_BUNDLE: '',
    }),
  )
  assert.match(stdout, /This system trusts .*SHA-256/)
  assert.match(stdout, /reached\n$/)
  // The system's own store is unchanged.
  assert.ok(bundle.equals(readFileSync('/etc/ssl/certs/ca-certificates.crt')))
})
