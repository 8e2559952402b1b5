/** Secrets of every kind reach the contents for the engine, and nothing else does. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { gitRepositories } from '#engines/repositories/git-repositories.ts'
import { openWay } from '#outbound/testing/ways.ts'
import { testSeal } from '#plane/testing/provider-context.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import type { ContainerGroup } from '../../resources/container-groups/model.ts'
import { toModel } from '../../resources/container-groups/versions/to-model.ts'
import { base, body, ids, web } from '../../testing/start.ts'
import { MaterialFailure } from '../engine-failure.ts'
import { type ContentDependencies, credentialsOf, groupContents } from './contents.ts'
import { registryOf } from './image-policy.ts'
import { specOf } from './spec.ts'

const place = `${base}/containerGroups/one`.toLowerCase()
const around = {
  hostAddress: '127.0.0.1',
  keptPorts: [],
  shareRoot: '/shares',
  cpusMax: 2,
  processesPerContainerMax: 10,
  resolvesSecrets: true,
  clonesRepositories: true,
  allowedRegistries: [],
}

/** These groups need no cleanup after a call, except in the last test. */
const held = new AsyncDisposableStack()

function model(containers: readonly object[], properties: object = {}): ContainerGroup {
  const given = body(containers, properties) as { properties: object }
  const preparation = { place, location: 'here', tenantId: 't', userAssigned: {} }
  return toModel({ ...given, preparation }, undefined, { seal: testSeal, ids })
}

function parts(over: Partial<ContentDependencies> = {}): ContentDependencies {
  return {
    seal: testSeal,
    secrets: { read: async (uri) => (uri.endsWith('/there') ? `secret of ${uri}` : undefined) },
    repositories: undefined,
    shareRoot: undefined,
    ...over,
  }
}

const references = {
  secretReferences: [
    { name: 'there', identity: '/i', secretReferenceUri: 'https://v.example/there' },
    { name: 'gone', identity: '/i', secretReferenceUri: 'https://v.example/gone' },
  ],
}

describe('contents', () => {
  test('secure variables, sealed and referenced; plain ones stay in the spec', async () => {
    const group = model(
      [
        web('', 'web', {
          environmentVariables: [
            { name: 'PLAIN', value: 'p' },
            { name: 'SECURE', secureValue: 's' },
            { name: 'REFERRED', secureValueReference: 'there' },
          ],
        }),
      ],
      references,
    )
    const { environment } = await groupContents(group, parts(), held)
    assert.deepEqual(
      [...(environment?.get('web') ?? [])],
      [
        ['SECURE', 's'],
        ['REFERRED', 'secret of https://v.example/there'],
      ],
    )
    const spec = specOf(group, around)
    assert.deepEqual(spec.parts[0]?.environment[0], { name: 'PLAIN', value: 'p' })
    assert.ok(!JSON.stringify(spec).includes('"s"'))
  })

  test('files of secret volumes, references and config maps', async () => {
    const group = model([web('', 'web', { configMap: { keyValuePairs: { setting: 'on' } } })], {
      ...references,
      volumes: [
        { name: 'a', secret: { one: Buffer.from('file one').toString('base64') } },
        { name: 'b', secretReference: { two: 'there' } },
      ],
    })
    const { files } = await groupContents(group, parts(), held)
    const text = (volume: string) =>
      (files?.get(volume) ?? []).map(({ name, bytes }) => [name, Buffer.from(bytes).toString()])
    assert.deepEqual(text('v0'), [['one', 'file one']])
    assert.deepEqual(text('v1'), [['two', 'secret of https://v.example/there']])
    assert.deepEqual(text('c0'), [['setting', 'on']])
    assert.deepEqual(specOf(group, around).parts[0]?.mounts, [
      { volume: 'c0', path: '/mnt/configmap/web', readOnly: true },
    ])
  })

  test('file shares are folders of the subscription, made when missing', async () => {
    const shareRoot = mkdtempSync(join(tmpdir(), 'armature-shares-'))
    try {
      const group = model([web('', 'web', { volumeMounts: [{ name: 'v', mountPath: '/data' }] })], {
        volumes: [{ name: 'v', azureFile: { shareName: 'Share', storageAccountName: 'Account' } }],
      })
      await groupContents(group, parts({ shareRoot }), held)
      const [volume] = specOf(group, { ...around, shareRoot }).volumes
      assert.ok(volume?.kind === 'host')
      assert.match(volume.folder, /11111111-2222-4333-8444-555555555555\/rg\/account\/share$/)
      assert.ok(statSync(volume.folder).isDirectory())
      // The same account name in two resource groups means two shares: the account's group decides.
      const folderOf = (over: Partial<ContainerGroup>): string => {
        const [found] = specOf({ ...group, ...over }, { ...around, shareRoot }).volumes
        return found?.kind === 'host' ? found.folder : ''
      }
      const elsewhere = group.place.replace('/resourcegroups/rg/', '/resourcegroups/other/')
      const owner = '/subscriptions/11111111-2222-4333-8444-555555555555/resourcegroups/other'
      assert.notEqual(folderOf({ place: elsewhere }), volume.folder)
      assert.equal(folderOf({ shareOwners: { v: owner } }), folderOf({ place: elsewhere }))
      const odd = group.place.replace('/resourcegroups/rg/', '/resourcegroups/(ü)/')
      assert.match(folderOf({ place: odd }), /\/~[0-9a-f]{40}\/account\/share$/)
    } finally {
      rmSync(shareRoot, { recursive: true })
    }
  })

  for (const [what, name, over, code, retry] of [
    ['a secret that is not there', 'gone', {}, 'SecretNotAvailable', 'never'],
    ['no secret store', 'there', { secrets: undefined }, 'SecretNotAvailable', 'never'],
    [
      'a secret store that does not answer',
      'there',
      { secrets: { read: () => Promise.reject(new Error('away')) } },
      'SecretNotAvailable',
      'later',
    ],
  ] as const) {
    test(`${what}: ${code}, ${retry}`, async () => {
      const variable = { name: 'A', secureValueReference: name }
      const group = model([web('', 'web', { environmentVariables: [variable] })], references)
      await assert.rejects(groupContents(group, parts(over), held), (error) => {
        assert.ok(error instanceof MaterialFailure)
        assert.deepEqual([error.failure.code, error.failure.retry], [code, retry])
        return true
      })
    })
  }

  test('a secret sealed for another group does not open', async () => {
    const variable = { name: 'A', secureValue: 's' }
    const group = model([web('', 'web', { environmentVariables: [variable] })])
    await assert.rejects(groupContents({ ...group, place: `${place}2` }, parts(), held), {
      message: /cannot be opened/,
    })
  })

  test('credentials go to the registry they are for, and to no other', async () => {
    const group = model([web()], {
      ...references,
      imageRegistryCredentials: [
        { server: 'R.example', username: 'u', password: 'p' },
        { server: 'index.docker.io', username: 'h', passwordReference: 'there' },
      ],
    })
    assert.deepEqual(await credentialsOf(group, 'r.example/a/b:1', parts()), {
      server: 'R.example',
      username: 'u',
      password: 'p',
    })
    assert.equal(await credentialsOf(group, 'other.example/a', parts()), undefined)
    const hub = await credentialsOf(group, 'nginx', parts())
    assert.equal(hub?.password, 'secret of https://v.example/there')
    assert.deepEqual(
      ['nginx', 'library/nginx', 'localhost/x', 'LAN/x', 'r.example:5000/x'].map(registryOf),
      ['docker.io', 'docker.io', 'localhost', 'lan', 'r.example:5000'],
    )
  })
})

describe('git repositories', () => {
  test('are fetched ahead of the call, gone after it, and refused with a code', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'armature-contents-git-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    let hasGit = true
    try {
      execFileSync('git', ['init', '--quiet', '--initial-branch=main', join(folder, 'site')])
    } catch {
      hasGit = false
    }
    if (!requireOrSkip(t, hasGit, 'git is not here; install the package git')) return
    const git = (...words: readonly string[]) =>
      execFileSync('git', ['-C', join(folder, 'site'), ...words])
    const person = ['-c', 'user.name=a', '-c', 'user.email=a@example.net']
    git(...person, 'commit', '--quiet', '--allow-empty', '-m', 'first')
    const copies = mkdtempSync(join(folder, 'copies-'))
    const repositories = gitRepositories({ outbound: openWay, schemes: ['file'], folder: copies })
    const group = (repository: string) =>
      model([web()], { volumes: [{ name: 'code', gitRepo: { repository } }] })
    {
      await using held = new AsyncDisposableStack()
      const own = parts({ repositories })
      const { archives } = await groupContents(group(`file://${join(folder, 'site')}`), own, held)
      assert.equal(readdirSync(copies).length, 1)
      let bytes = 0
      for await (const piece of archives?.get('v0')?.() ?? []) bytes += piece.byteLength
      assert.ok(bytes >= 1024, 'an empty tar is two blocks at the least')
    }
    assert.deepEqual(readdirSync(copies), [])
    for (const [repository, retry] of [
      [`file://${join(folder, 'none')}`, 'later'],
      ['ext::sh', 'never'],
    ] as const) {
      await assert.rejects(
        groupContents(group(repository), parts({ repositories }), held),
        (error) => {
          assert.ok(error instanceof MaterialFailure)
          assert.equal(error.failure.code, 'GitRepositoryNotAvailable')
          assert.equal(error.failure.retry, retry)
          return true
        },
      )
    }
  })
})
