/** The demo of consent: a connection to the installation's own identity server, and a code that works once. */

import { textOf } from '#client/answer.ts'
import { consentVersion, loginLink, walkConsent } from '../../../consent.ts'
import { extensionPath } from '../../../resource-path.ts'
import type { DemoArea } from '../area.ts'

const version = `api-version=${consentVersion['api-version']}`

export const area: DemoArea = {
  name: 'consent',
  summary: 'a consent code, confirmed',
  operations: [2],
  async prepare(fixture) {
    const group = await fixture.group()
    const { client } = fixture
    const service = `${extensionPath(fixture.words, group, 'ApiManagement/service')}/demo-consent-${fixture.subscriptionId.slice(0, 8)}`
    await fixture.put(
      `${service}?${version}`,
      {
        location: await fixture.location(),
        sku: { name: 'Developer', capacity: 1 },
        properties: { publisherEmail: 'apis@example.test', publisherName: 'Example' },
      },
      'API management service',
    )
    const application = await fixture.caller('demo-consent')
    const principal = `/directory/servicePrincipals/${application.principalId}`
    const redirectUris = [`${fixture.url}/consent/callback`]
    await client.request('PATCH', principal, { body: { redirectUris } })
    const provider = `${service}/authorizationProviders/own`
    await put(`${provider}`, {
      properties: {
        displayName: 'This installation',
        identityProvider: 'aad',
        oauth2: {
          grantTypes: {
            authorizationCode: {
              clientId: application.clientId,
              clientSecret: fixture.secretOf(application),
              scopes: 'user_impersonation offline_access',
            },
          },
        },
      },
    })
    const connection = `${provider}/authorizations/me`
    await put(connection, { properties: { authorizationType: 'OAuth2' } })
    fixture.note('An authorization provider (this installation itself) and an authorization of it')
    const { owner } = fixture
    const consentCode =
      owner === undefined
        ? 'the code that the browser comes back with'
        : await walkConsent(await loginLink({ client }, connection), owner)
    fixture.note(
      owner === undefined
        ? `Open this in a browser: ${await loginLink({ client }, connection)}`
        : 'Followed a login link, as the owner: signed in, consented, came back with a code',
    )
    const confirm = {
      operation: 2,
      method: 'POST',
      path: `${connection}/confirmConsentCode?${version}`,
      body: { consentCode },
    }
    return [
      { ...confirm, title: 'confirm the consent code' },
      { ...confirm, title: 'the same code once more is refused', expect: 400 },
      {
        operation: 2,
        title: 'the authorization, connected',
        method: 'GET',
        path: `${connection}?${version}`,
      },
    ]

    async function put(path: string, body: object): Promise<void> {
      const there = await client.send('GET', path, { query: consentVersion })
      const headers = there.status === 200 ? { 'If-Match': '*' } : {}
      const answer = await client.request('PUT', path, { query: consentVersion, body, headers })
      if (textOf(answer.body, 'id') === undefined) throw new TypeError('the answer has no id')
    }
  },
}
