/** Starts that are refused, and what a restart must keep: for every way to store an installation. */

import assert from 'node:assert/strict'
import {
  addMember,
  createApplication,
  createGroup,
  createResourceGroup,
  createUser,
  grant,
  roles,
} from './access.ts'
import {
  clientToken,
  type Installation,
  type InstallationOptions,
  StartRefused,
  startInstallation,
} from './installation.ts'

/** Of the calls about resource groups. */
export const version = 'api-version=2021-04-01'

export async function refusedStart(
  options: InstallationOptions,
  ...words: RegExp[]
): Promise<void> {
  const error = await startInstallation(options).then(
    async (started) => {
      await started[Symbol.asyncDispose]()
      assert.fail('it started')
    },
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof StartRefused, String(error))
  assert.equal(error.code, 1, error.output)
  for (const word of words) assert.match(error.output, word)
  assert.doesNotMatch(error.output, /^\s+at /m, 'a message for people, not a stack')
}

/** Creates what must exist after a restart. The returned function checks it. */
export async function rememberable(a: Installation) {
  const path = `/subscriptions/${a.subscriptionId}/resourceGroups/kept`
  assert.equal((await createResourceGroup(a, path)).status, 201)
  const application = await createApplication(a, 'kept')
  const [user, team] = [await createUser(a, `kept-${Date.now()}`), await createGroup(a, 'kept')]
  await addMember(a, team, user)
  const assignment = await grant(a, path, roles.reader, application.principalId)
  const before = await a.request('GET', `${assignment}?api-version=2022-04-01`)
  return async (restarted: Installation): Promise<void> => {
    assert.equal(restarted.tenantId, a.tenantId)
    assert.equal(restarted.subscriptionId, a.subscriptionId)
    const afterwards = await restarted.request('GET', `${assignment}?api-version=2022-04-01`)
    assert.deepEqual(afterwards.body, before.body)
    const token = await clientToken(restarted.url, application)
    const read = await restarted.request('GET', `${path}?${version}`, { token })
    assert.equal(read.status, 200, read.text)
    const members = await restarted.request('GET', `/directory/groups/${team}/members`)
    assert.deepEqual(
      members.items().map((item) => item['id']),
      [user],
    )
  }
}
