/** Every list, key and text of a body has a limit, reported with its path before anything is sealed. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultContainerLimits as limits } from '../../../domain/limits.ts'
import { sizeProblems } from './size.ts'

const keys = (count: number, value = 'QUFB'): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]))
const items = <T>(count: number, item: T): readonly T[] => Array.from({ length: count }, () => item)
const found = (properties: object, identity?: object): readonly string[] =>
  sizeProblems({ properties, identity }, limits).map(({ code, path }) => `${code} ${path}`)
const container = (properties: object): object => ({ containers: [{ name: 'one', properties }] })
const long = 'x'.repeat(limits.textBytesMax + 1)
const large = 'ContainerGroupTooLarge'

describe('the size of a body of container groups and profiles', () => {
  const one = 'properties.containers[0].properties'
  const cases: readonly (readonly [string, object, string])[] = [
    [
      'keys of a secret volume',
      { volumes: [{ name: 'v', secret: keys(limits.keysMax + 1) }] },
      `${large} properties.volumes[0].secret`,
    ],
    [
      'keys of referred secrets',
      { volumes: [{ name: 'v', secretReference: keys(limits.keysMax + 1) }] },
      `${large} properties.volumes[0].secretReference`,
    ],
    [
      'key-value pairs',
      container({ configMap: { keyValuePairs: keys(limits.keysMax + 1) } }),
      `${large} ${one}.configMap.keyValuePairs`,
    ],
    ['secrets in sum', { volumes: items(3, { secret: keys(200) }) }, `${large} properties`],
    [
      'bytes of secrets in sum',
      { volumes: items(3, { secret: { k: 'A'.repeat(100_000) } }) },
      `${large} properties`,
    ],
    [
      'containers',
      { containers: items(61, { name: 'a' }) },
      'TooManyContainers properties.containers',
    ],
    ['volumes', { volumes: items(21, { name: 'a' }) }, 'TooManyVolumes properties.volumes'],
    [
      'references',
      { secretReferences: items(101, { name: 'a' }) },
      `${large} properties.secretReferences`,
    ],
    [
      'credentials',
      { imageRegistryCredentials: items(101, { server: 'a' }) },
      `${large} properties.imageRegistryCredentials`,
    ],
    ['members of any list', container({ ports: items(1001, {}) }), `${large} ${one}.ports`],
    ['image', container({ image: 'x'.repeat(1025) }), `${large} ${one}.image`],
    ['command', container({ command: [long] }), `${large} ${one}.command[0]`],
    [
      'environment',
      container({ environmentVariables: [{ name: 'a', value: long }] }),
      `${large} ${one}.environmentVariables[0].value`,
    ],
    [
      'probe',
      container({ livenessProbe: { exec: { command: [long] } } }),
      `${large} ${one}.livenessProbe.exec.command[0]`,
    ],
    [
      'repository',
      { volumes: [{ gitRepo: { repository: 'x'.repeat(2049) } }] },
      `${large} properties.volumes[0].gitRepo.repository`,
    ],
    ['priority', { priority: long }, `${large} properties.priority`],
    [
      'workspace',
      { diagnostics: { logAnalytics: { workspaceId: long } } },
      `${large} properties.diagnostics.logAnalytics.workspaceId`,
    ],
    [
      'settings of an extension',
      { extensions: [{ properties: { settings: { a: long } } }] },
      `${large} properties.extensions[0].properties.settings.a`,
    ],
    [
      'what no schema knows',
      { anything: { deep: [long] } },
      `${large} properties.anything.deep[0]`,
    ],
    ['a key', { anything: { [long]: 1 } }, `${large} properties.anything`],
    ['texts in sum', container({ command: items(5, long.slice(1)) }), `${large} properties`],
  ]
  for (const [name, properties, expected] of cases) {
    test(`${name}: bounded, and refused with the path`, () => {
      assert.deepEqual(found(properties), [expected])
    })
  }

  test('identities that are lent', () => {
    const userAssignedIdentities = keys(limits.userAssignedIdentitiesMax + 1)
    const path = `${large} identity.userAssignedIdentities`
    assert.deepEqual(found({}, { userAssignedIdentities }), [path])
  })

  test('what stands at each bound is taken', () => {
    const volumes = [{ name: 'v', secret: keys(limits.keysMax) }]
    const properties = { image: 'x'.repeat(limits.imageLengthMax), command: [long.slice(1)] }
    assert.deepEqual(found({ volumes, ...container(properties) }), [])
  })
})
