/**
 * Access in the console: a delegate whose condition was built by clicks, what it allows, and the path that explains
 * it.
 */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createResourceGroup, createUser, roles } from '../e2e/access.ts'
import { clientToken, startInstallation } from '../e2e/installation.ts'
import { findChromium, howToGetChromium } from '../portal/find-chromium.ts'
import { requireOrSkip } from '../require.ts'
import { openConsole } from './console.ts'
import { assertWalk } from './keyboard.ts'

const isBuilt = existsSync(join(import.meta.dirname, '..', '..', 'console', 'dist', 'index.html'))
const ready = isBuilt && findChromium() !== undefined
const howTo = `${howToGetChromium}; and \`npm run console\``

test('a delegate with a condition built by clicks, what it lets them give, and the path drawn', async (t) => {
  if (!requireOrSkip(t, ready, howTo)) return
  await using installation = await startInstallation()
  const group = `/subscriptions/${installation.subscriptionId}/resourceGroups/shop`
  await createResourceGroup(installation, group)
  const lead = await createUser(installation, 'lead')
  await using opened = await openConsole(installation)
  const { page } = opened
  await opened.open(`/access?scope=${encodeURIComponent(group)}`)
  await page.getByRole('button', { name: 'Add an assignment' }).click()
  const dialog = page.getByRole('dialog')
  const who = { name: 'Person, group or application' }
  await dialog.getByRole('combobox', who).selectOption('lead (User)')
  await dialog.getByRole('combobox', { name: 'Role' }).selectOption('User Access Administrator')
  await dialog.getByText('Only for some').click()
  await dialog.getByRole('checkbox', { name: 'Reader', exact: true }).click()
  await dialog.getByRole('checkbox', { name: 'Applications' }).click()
  const text = await dialog.getByRole('textbox', { name: 'Condition' }).inputValue()
  assert.ok(text.includes(`RoleDefinitionId] ForAnyOfAnyValues:GuidEquals {${roles.reader}}`), text)
  assert.match(text, /@Resource.*PrincipalType\] .*\{'ServicePrincipal'\}/)
  await opened.assertFit('condition')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('cell', { name: 'lead', exact: true }).waitFor()

  const checked = async (request: object) => {
    const action = 'Vendor.Authorization/roleAssignments/write'
    const answer = await installation.request(
      'POST',
      `${group}/providers/Vendor.Authorization/checkAccess?api-version=2022-04-01`,
      { body: { principalId: lead, actions: [action], request } },
    )
    return answer.at('value.0.accessDecision')
  }
  const type = 'Vendor.Authorization/roleAssignments'
  const about = (role: string, kind: string) => ({
    [`${type}:RoleDefinitionId`]: role,
    [`${type}:PrincipalType`]: kind,
  })
  assert.equal(await checked(about(roles.reader, 'ServicePrincipal')), 'Allowed')
  assert.equal(await checked(about(roles.owner, 'ServicePrincipal')), 'NotAllowed')
  assert.equal(await checked(about(roles.reader, 'User')), 'NotAllowed')

  // The page knows nothing of the request, so the answer depends on it.
  await page.getByRole('combobox', who).selectOption('lead (User)')
  await page.getByRole('textbox', { name: 'Action' }).fill(`${type}/write`)
  await page.getByRole('button', { name: 'Check' }).click()
  const path = page.getByRole('list', {
    name: 'How User Access Administrator reaches from lead',
  })
  await path.getByText('If the condition holds').waitFor()
  await path.getByText('shop', { exact: true }).waitFor()

  // The path goes from the scope of the assignment down to the wanted one.
  await page.getByRole('combobox', who).selectOption('Owner (User)')
  await page.getByRole('button', { name: 'Check' }).click()
  const mine = page.getByRole('list', { name: /^How Owner reaches from/ })
  await mine.getByText('Allowed', { exact: true }).waitFor()
  await mine.getByText('Everything').waitFor()
  await mine.getByText('shop', { exact: true }).waitFor()
  await opened.assertFit('access-path')
  await assertWalk(opened, 'access-path')

  // What cannot be taken back is asked first, and says what it does.
  await page.getByRole('columnheader', { name: 'Remove' }).waitFor()
  await page.getByRole('button', { name: 'Remove: Owner (You)' }).click()
  await dialog.getByText(/^Owner \(You\) loses the role Owner at Everything/).waitFor()
  await dialog.getByText(/^This is your own role/).waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Remove: lead' }).click()
  await dialog.getByText(/^lead loses the role User Access Administrator at shop/).waitFor()
  await opened.assertFit('remove-assignment')
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('button', { name: 'Remove: lead' }).waitFor({ state: 'detached' })
  await opened.open('/access?view=people')
  await page.getByRole('button', { name: 'Delete: lead' }).click()
  await dialog.getByText(/sessions and tokens end/).waitFor()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete: lead' }).waitFor({ state: 'detached' })

  // An application signs in with what is shown once.
  await page.getByRole('combobox', { name: 'Show' }).selectOption('Applications')
  await page.getByRole('button', { name: 'Add an application' }).click()
  await dialog.getByRole('textbox', { name: 'Name' }).fill('pipeline')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  const once = page.getByRole('region', { name: /^pipeline signs in with this/ })
  const [clientId = '', clientSecret = ''] = ((await once.textContent()) ?? '')
    .replace(/^.*once\./, '')
    .split(':')
    .map((one) => one.trim())
  assert.ok(await clientToken(installation.url, { clientId, clientSecret }))
  assert.deepEqual(opened.complaints, [])
})
