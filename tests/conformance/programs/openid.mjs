/**
 * Sign-ins by libraries of the standard, as a program of its own: they check every address and every claim of what they are
 * told. Prints one JSON line per case.
 */

import assert from 'node:assert/strict'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { createBrowser } from '../../../src/identity/testing/browser.ts'
import {
  checkToken,
  enterDeviceCode,
  failed,
  given,
  runCases,
  scope,
  signIn,
  tenantId,
  url,
} from './cases.mjs'

const { clientId, clientSecret } = given

await runCases('sign-in', 'openid-client', {
  async 'openid-client: client credentials'() {
    const config = await openid.discovery(new URL(url), clientId, clientSecret)
    const tokens = await openid.clientCredentialsGrant(config, { scope })
    await checkToken(tokens.access_token)
  },

  async 'openid-client: the address by which one comes is the issuer'() {
    const other = url.replace('localhost', '127.0.0.1')
    const config = await openid.discovery(new URL(other), clientId, clientSecret)
    assert.equal(config.serverMetadata().issuer, other)
    const tokens = await openid.clientCredentialsGrant(config, { scope: `${other}/.default` })
    // What was got by one address is good at the others.
    await checkToken(tokens.access_token)
  },

  async 'openid-client: authorization code with PKCE, then the refresh token'() {
    const config = await openid.discovery(new URL(url), 'armature-cli', undefined, openid.None())
    const pkceCodeVerifier = openid.randomPKCECodeVerifier()
    const expectedState = openid.randomState()
    const expectedNonce = openid.randomNonce()
    const address = openid.buildAuthorizationUrl(config, {
      redirect_uri: 'http://localhost:54321/',
      scope: `openid profile ${scope}`,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      nonce: expectedNonce,
    })
    const back = await signIn(createBrowser(url), address.href)
    const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true }
    const tokens = await openid.authorizationCodeGrant(config, back.url, checks)
    await checkToken(tokens.access_token)
    const { iss, tid } = tokens.claims()
    assert.deepEqual([iss, tid], [url, tenantId])
    const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token)
    assert.notEqual(renewed.access_token, tokens.access_token)
    await checkToken(renewed.access_token)
  },

  async 'openid-client: device code'() {
    const config = await openid.discovery(new URL(url), 'armature-cli', undefined, openid.None())
    const device = await openid.initiateDeviceAuthorization(config, { scope })
    assert.ok(device.verification_uri.startsWith(url))
    enterDeviceCode(device.verification_uri, device.user_code).catch(failed)
    await checkToken((await openid.pollDeviceAuthorizationGrant(config, device)).access_token)
  },

  async 'openid-client: on behalf of the person who called'() {
    const people = await openid.discovery(new URL(url), 'armature-cli', undefined, openid.None())
    const device = await openid.initiateDeviceAuthorization(people, { scope })
    enterDeviceCode(device.verification_uri, device.user_code).catch(failed)
    const { access_token: theirs } = await openid.pollDeviceAuthorizationGrant(people, device)
    const config = await openid.discovery(new URL(url), clientId, clientSecret)
    const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
    const parameters = { assertion: theirs, requested_token_use: 'on_behalf_of', scope }
    const tokens = await openid.genericGrantRequest(config, grant, parameters)
    await checkToken(tokens.access_token)
    const oidOf = (token) =>
      JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString()).oid
    assert.notEqual(tokens.access_token, theirs)
    assert.equal(oidOf(tokens.access_token), oidOf(theirs))
  },
})

await runCases('sign-in', 'oauth4webapi', {
  async 'oauth4webapi: client credentials, and its check of the access token'() {
    const issuer = new URL(url)
    const server = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer),
    )
    const client = { client_id: clientId }
    const answer = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      oauth.ClientSecretPost(clientSecret),
      new URLSearchParams({ scope }),
    )
    const tokens = await oauth.processClientCredentialsResponse(server, client, answer)
    await checkToken(tokens.access_token)
    const request = new Request(url, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    })
    const { aud, ...claims } = await oauth.validateJwtAccessToken(server, request, url)
    assert.equal(aud, url)
    assert.equal(claims.iss, url)
  },
})

process.exit(0)
