/**
 * Builds the container image: packs the checkout, installs the tarball in an empty folder, and lets Podman or Docker copy
 * it onto a runtime. `npm run image -- [--tag <name>] [--runtime <image>] [--context <folder>]`; with `--context` the folder
 * is made and kept, with the tarball, and nothing is built.
 */

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const root = join(import.meta.dirname, '..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly version: string
}
const { values } = parseArgs({
  options: {
    tag: { type: 'string', default: `armature:${version}` },
    runtime: { type: 'string' },
    context: { type: 'string' },
  },
})

const containerfile = join(root, 'deploy/Containerfile')
const folder = values.context ?? mkdtempSync(join(tmpdir(), 'armature-image-'))
fillContext()
if (values.context === undefined) {
  const runtime = values.runtime === undefined ? [] : ['--build-arg', `RUNTIME=${values.runtime}`]
  const program = builder()
  // The other format of Podman has no place for the health check.
  const format = program === 'podman' ? ['--format', 'docker'] : []
  run(program, [
    'build',
    ...format,
    ...runtime,
    '--tag',
    values.tag,
    '--file',
    containerfile,
    folder,
  ])
  rmSync(folder, { recursive: true })
}

function fillContext(): void {
  const app = join(folder, 'app')
  mkdirSync(app, { recursive: true })
  mkdirSync(join(folder, 'data'))
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  })
  const [{ filename }] = JSON.parse(packed) as [{ readonly filename: string }]
  const tarball = join(folder, 'armature.tgz')
  renameSync(join(folder, filename), tarball)
  writeFileSync(join(app, 'package.json'), '{"private":true}\n')
  run('npm', ['install', '--no-audit', '--no-fund', '--omit=dev', tarball], app)
}

function builder(): string {
  for (const program of ['docker', 'podman']) {
    try {
      execFileSync(program, ['--version'], { stdio: 'ignore' })
      return program
    } catch {
      // Not installed: the next one.
    }
  }
  throw new Error('Install Podman or Docker to build the image.')
}

function run(program: string, words: readonly string[], cwd = root): void {
  execFileSync(program, words, { cwd, stdio: 'inherit' })
}
