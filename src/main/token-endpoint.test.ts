/** What a token endpoint says of a refusal, as those who may read the connection read it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localServer, openWay } from '#outbound/testing/ways.ts'
import { openTokenEndpoint } from './token-endpoint.ts'

test('words that repeat a secret that was sent are left out', async () => {
  let said: object = {}
  await using server = await localServer((_request, response) => {
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(said))
  })
  const endpoint = openTokenEndpoint({ outbound: openWay, publicUrl: () => 'http://here.example' })
  const form = {
    grant_type: 'refresh_token',
    client_id: 'c',
    client_secret: 'hush &1',
    refresh_token: 'r-2',
  }
  const ask = async (error: string, description: string) => {
    said = { error, error_description: description }
    const answer = await endpoint.ask(`http://127.0.0.1:${server.port}/token`, form, 'owner')
    assert.ok(!answer.ok)
    return answer.message
  }
  assert.equal(await ask('invalid_client', 'who?'), 'it refused (invalid_client): who?')
  for (const words of [
    'no hush &1',
    `no ${encodeURIComponent('hush &1')}`,
    `${'x'.repeat(299)}r-2`,
  ]) {
    assert.equal(await ask('invalid_client', words), 'it refused (invalid_client)')
  }
  assert.doesNotMatch(await ask('no-r-2', ''), /r-2/)
})

test('an answer of more than 64 KB is none: what it gives is kept', async () => {
  let length = 0
  await using server = await localServer((_request, response) => {
    response.end(JSON.stringify({ access_token: 'x'.repeat(length) }))
  })
  const endpoint = openTokenEndpoint({ outbound: openWay, publicUrl: () => 'http://here.example' })
  const ask = async (characters: number) => {
    length = characters
    return (await endpoint.ask(`http://127.0.0.1:${server.port}/token`, {}, 'owner')).ok
  }
  assert.deepEqual([await ask(60 * 1024), await ask(64 * 1024)], [true, false])
})
