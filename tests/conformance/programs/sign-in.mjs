/**
 * Sign-ins by the published libraries of the family, as a program of its own: which certificates are trusted
 * is settled when a process starts. Prints one JSON line per case: its name, and what went wrong if anything.
 */

import assert from 'node:assert/strict'
import {
  ClientSecretCredential,
  DeviceCodeCredential,
  ManagedIdentityCredential,
  OnBehalfOfCredential,
} from '@azure/identity'
import { ConfidentialClientApplication, PublicClientApplication } from '@azure/msal-node'
import { createBrowser } from '../../../src/identity/testing/browser.ts'
import {
  checkToken,
  enterDeviceCode,
  failed,
  given,
  host,
  runCases,
  scope,
  signIn,
  tenantId,
  url,
} from './cases.mjs'

await runCases('sign-in', '@azure/identity', {
  async ClientSecretCredential() {
    const credential = new ClientSecretCredential(tenantId, given.clientId, given.clientSecret, {
      authorityHost: url,
      disableInstanceDiscovery: true,
    })
    await checkToken((await credential.getToken(scope)).token)
  },

  async 'ClientSecretCredential with the older authority'() {
    const credential = new ClientSecretCredential('adfs', given.clientId, given.clientSecret, {
      authorityHost: url,
      disableInstanceDiscovery: true,
    })
    await checkToken((await credential.getToken(scope)).token)
  },

  async 'DeviceCodeCredential, then silently'() {
    const messages = []
    const credential = new DeviceCodeCredential({
      tenantId,
      clientId: 'armature-cli',
      authorityHost: url,
      disableInstanceDiscovery: true,
      userPromptCallback({ message, userCode, verificationUri }) {
        messages.push(message)
        enterDeviceCode(verificationUri, userCode).catch(failed)
      },
    })
    const first = await credential.getToken(scope)
    await checkToken(first?.token)
    assert.match(messages.join(), /open the page https:.*enter the code [A-Z]{4}-[A-Z]{4}/)
    const second = await credential.getToken(scope)
    assert.equal(second?.token, first?.token)
    assert.equal(messages.length, 1)
  },

  async 'DeviceCodeCredential with the client id it is published with'() {
    const credential = new DeviceCodeCredential({
      tenantId,
      authorityHost: url,
      disableInstanceDiscovery: true,
      userPromptCallback({ userCode, verificationUri }) {
        enterDeviceCode(verificationUri, userCode, true).catch(failed)
      },
    })
    await checkToken((await credential.getToken(scope))?.token)
  },

  async ManagedIdentityCredential() {
    process.env['IDENTITY_ENDPOINT'] = `${given.plainUrl}/common/identity/token`
    process.env['IDENTITY_HEADER'] = given.localSecret
    await checkToken((await new ManagedIdentityCredential().getToken(scope)).token)
  },

  async 'ManagedIdentityCredential by the metadata of the machine'() {
    delete process.env['IDENTITY_ENDPOINT']
    delete process.env['IDENTITY_HEADER']
    const { plainUrl, localSecret } = given
    process.env['AZURE_POD_IDENTITY_AUTHORITY_HOST'] =
      `${plainUrl}/common/identity/token/${localSecret}`
    await checkToken((await new ManagedIdentityCredential().getToken(scope)).token)
  },

  async OnBehalfOfCredential() {
    const own = await new ClientSecretCredential(tenantId, given.clientId, given.clientSecret, {
      authorityHost: url,
      disableInstanceDiscovery: true,
    }).getToken(scope)
    const credential = new OnBehalfOfCredential({
      tenantId,
      clientId: given.clientId,
      clientSecret: given.clientSecret,
      userAssertionToken: own.token,
      authorityHost: url,
      disableInstanceDiscovery: true,
    })
    await checkToken((await credential.getToken(scope)).token)
  },
})

await runCases('sign-in', '@azure/msal-node', {
  async 'authorization code with PKCE, then from the cache, then by the refresh token'() {
    const application = new PublicClientApplication({
      auth: {
        clientId: 'armature-cli',
        authority: `${url}/organizations`,
        knownAuthorities: [host],
      },
    })
    const result = await application.acquireTokenInteractive({
      scopes: [scope],
      async openBrowser(address) {
        const browser = createBrowser(url)
        // The answer comes as a form that the browser posts to the library's own listener.
        const back = await signIn(browser, address)
        assert.match(back.action, /^http:\/\/localhost:\d+$/)
        browser.submit(back, {}).catch(failed)
      },
    })
    await checkToken(result.accessToken)
    const { account } = result
    assert.ok(account !== null)
    assert.equal(account.tenantId, tenantId)
    assert.equal(account.username, given.signInName)
    assert.match(account.homeAccountId, new RegExp(`\\.${tenantId}$`))
    const again = await application.acquireTokenSilent({ account, scopes: [scope] })
    assert.equal(again.fromCache, true)
    const renewed = await application.acquireTokenSilent({
      account,
      scopes: [scope],
      forceRefresh: true,
    })
    assert.equal(renewed.fromCache, false)
    assert.notEqual(renewed.accessToken, result.accessToken)
    await checkToken(renewed.accessToken)
  },

  async 'device code without a library around it'() {
    const application = new PublicClientApplication({
      auth: { clientId: 'armature-cli', authority: `${url}/common`, knownAuthorities: [host] },
    })
    const result = await application.acquireTokenByDeviceCode({
      scopes: [scope],
      deviceCodeCallback({ verificationUri, userCode, interval, message }) {
        assert.ok(interval > 0)
        assert.ok(message.includes(userCode))
        enterDeviceCode(verificationUri, userCode).catch(failed)
      },
    })
    await checkToken(result?.accessToken)
  },

  async 'client credentials without a library around it'() {
    // The words for many tenants are refused by the library itself in this flow.
    for (const authority of [tenantId, 'adfs']) {
      const application = new ConfidentialClientApplication({
        auth: {
          clientId: given.clientId,
          clientSecret: given.clientSecret,
          authority: `${url}/${authority}`,
          knownAuthorities: [host],
        },
      })
      const result = await application.acquireTokenByClientCredential({ scopes: [scope] })
      await checkToken(result?.accessToken)
    }
  },
})

// A credential may keep a listener or a timer.
process.exit(0)
