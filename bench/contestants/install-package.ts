/** Builds the package and installs it in a folder, as a user would. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Returns the path of its launcher. */
export function installPackage(folder: string): string {
  mkdirSync(folder, { recursive: true })
  const words = ['pack', '--json', '--pack-destination', folder]
  const packed = execFileSync('npm', words, { cwd: root, encoding: 'utf8' })
  const [{ filename }] = JSON.parse(packed) as [{ readonly filename: string }]
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n')
  execFileSync('npm', ['install', '--no-audit', '--no-fund', join(folder, filename)], {
    cwd: folder,
    stdio: 'ignore',
  })
  return join(folder, 'node_modules/armature-plane/bin/armature.mjs')
}
