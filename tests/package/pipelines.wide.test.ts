/**
 * The examples for pipelines: each is read as its system reads it, names only commands and files that there are, and its shell
 * lines start a server, ask it and stop it, one after the other, as the system would run them.
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { parse } from 'yaml'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const textOf = (name: string): string => readFileSync(join(root, 'deploy/ci', name), 'utf8')

interface Pipeline {
  readonly environment: Readonly<Record<string, string>>
  /** Each is a shell of its own, or all of them are one. */
  readonly steps: readonly string[]
}

/** A system's own variables, as it would replace them. */
type Places = Readonly<Record<string, string>>

function fill(text: string, places: Places): string {
  return Object.entries(places).reduce((all, [name, value]) => all.replaceAll(name, value), text)
}

interface GitLab {
  readonly test: {
    readonly image: string
    readonly variables: Readonly<Record<string, string>>
    readonly before_script: readonly string[]
    readonly script: readonly string[]
    readonly after_script: readonly string[]
  }
}

interface Azure {
  readonly variables: Readonly<Record<string, string>>
  readonly steps: readonly { readonly script?: string; readonly condition?: string }[]
}

interface CircleCi {
  readonly jobs: {
    readonly test: {
      readonly environment: Readonly<Record<string, string>>
      readonly steps: readonly (string | { readonly run: string | { readonly command: string } })[]
    }
  }
}

const pipelines: Readonly<Record<string, (folder: string) => Pipeline>> = {
  'gitlab-ci.yml'(folder) {
    const { test: job } = parse(textOf('gitlab-ci.yml')) as GitLab
    assert.match(job.image, /^node:\d+$/)
    return {
      environment: {
        ARMATURE_HOME: fill(job.variables['ARMATURE_HOME'] ?? '', { $CI_PROJECT_DIR: folder }),
      },
      // The first two are one shell.
      steps: [[...job.before_script, ...job.script].join('\n'), job.after_script.join('\n')],
    }
  },
  'azure-pipelines.yml'(folder) {
    const { variables, steps } = parse(textOf('azure-pipelines.yml')) as Azure
    const environment = {
      ARMATURE_HOME: fill(variables['ARMATURE_HOME'] ?? '', { '$(Agent.TempDirectory)': folder }),
    }
    return {
      environment,
      steps: steps.flatMap(({ script }) => (script === undefined ? [] : [script])),
    }
  },
  'circleci.yml'(folder) {
    const { jobs } = parse(textOf('circleci.yml')) as CircleCi
    const { environment, steps } = jobs.test
    const home = fill(environment['ARMATURE_HOME'] ?? '', { '/tmp/armature': join(folder, 'home') })
    return {
      environment: { ARMATURE_HOME: home, BASH_ENV: join(folder, 'bash_env') },
      steps: steps.flatMap((step) => {
        if (typeof step === 'string') return []
        return [typeof step.run === 'string' ? step.run : step.run.command]
      }),
    }
  },
  Jenkinsfile(folder) {
    const text = textOf('Jenkinsfile')
    assert.equal(text.split('{').length, text.split('}').length, 'each brace is closed')
    const home = /ARMATURE_HOME = "([^"]+)"/.exec(text)?.[1] ?? ''
    return {
      environment: { ARMATURE_HOME: fill(home, { '${WORKSPACE_TMP}': folder }) },
      steps: [...text.matchAll(/\bsh '([^']+)'/g)].map(([, step = '']) => step),
    }
  },
}

for (const [name, read] of Object.entries(pipelines)) {
  test(`deploy/ci/${name} starts a server, tests against it and stops it`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'armature-pipeline-'))
    const { environment, steps } = read(folder)
    const job = openJob(folder, environment)
    t.after(async () => {
      await job.sh('npx armature stop').catch(() => '')
      rmSync(folder, { recursive: true, force: true })
    })
    assert.ok(steps.length >= 2, steps.join('\n'))
    // What it sets for later steps (Azure) is set as the agent does.
    for (const step of steps) {
      const out = await job.sh(step)
      for (const [, key = '', value = ''] of out.matchAll(
        /##vso\[task\.setvariable variable=(\w+)[^\]]*\](.*)/g,
      )) {
        job.set(key, value)
      }
    }
    assert.match(job.npm(), /^ci\n/, 'it installs what the project has')
    assert.match(job.npm(), /^test 200$/m, 'its tests asked the server')
    assert.match(job.npm(), /^install --no-save armature-plane$/m)
  })
}

test('the page about pipelines names every example, and every example is tried', () => {
  const page = textOf('README.md')
  for (const name of [...Object.keys(pipelines), 'action.yml']) assert.ok(page.includes(name), name)
})

/** A shell with an `npm` that does what a project would have it do, and an `npx` of this checkout. */
function openJob(folder: string, environment: Readonly<Record<string, string>>) {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const log = join(folder, 'npm.log')
  writeFileSync(log, '')
  const launcher = join(root, 'bin/armature.mjs')
  const asking =
    "fetch(process.env.RESOURCE_URL+'/subscriptions?api-version=2020-01-01',{headers:{authorization:'Bearer '+process.env.RESOURCE_TOKEN}}).then(r=>console.log('test '+r.status))"
  const programs = {
    npx: `shift\nexec '${process.execPath}' '${launcher}' "$@"`,
    npm: `[ "$1" = test ] && exec '${process.execPath}' -e "${asking}" >> '${log}'\necho "$@" >> '${log}'`,
  }
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  const set: Record<string, string> = {}
  const { NODE_TEST_CONTEXT: _, ...outside } = process.env
  return {
    set(key: string, value: string) {
      set[key] = value
    },
    npm: () => readFileSync(log, 'utf8'),
    async sh(step: string): Promise<string> {
      const path = `${bin}${delimiter}${process.env['PATH'] ?? ''}`
      // A free port, so that jobs beside each other do not meet.
      const env = { ...outside, ARMATURE_PORT: '0', ...environment, ...set, PATH: path }
      const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', step], { cwd: folder, env })
      return stdout
    },
  }
}
