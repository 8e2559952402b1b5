/**
 * The peer `openapi-backend`: routes and validates by an OpenAPI document, in front of the same Map as the floor.
 * It validates requests, as it does by default.
 */

import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { type Context, OpenAPIBackend } from 'openapi-backend'
import { storedGroup, storedGroups } from '../payload.ts'
import { answer, readBody } from './answer.ts'

const [port = '0', count = '0', document = ''] = process.argv.slice(2)
const groups = new Map(storedGroups(Number(count)).map((group) => [group.name, group]))
let etag = 0

const api = new OpenAPIBackend({
  definition: JSON.parse(readFileSync(document, 'utf8')),
  handlers: {
    getGroup: (context: Context, response: ServerResponse) => {
      const found = groups.get(nameIn(context))
      if (found === undefined) answer(response, 404, etag, { error: { code: 'NotFound' } })
      else answer(response, 200, etag, found)
    },
    putGroup: (context: Context, response: ServerResponse) => {
      const group = storedGroup(nameIn(context), context.request.requestBody)
      groups.set(group.name, group)
      answer(response, 200, ++etag, group)
    },
    notFound: (_: Context, response: ServerResponse) => answer(response, 404, etag, {}),
    validationFail: (context: Context, response: ServerResponse) =>
      answer(response, 400, etag, { error: context.validation.errors ?? [] }),
  },
})

function nameIn(context: Context): string {
  return String(context.request.params['name'])
}

await api.init()
const server = createServer((request, response) => {
  const about = {
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    // The type of Node's headers allows undefined, which never occurs.
    headers: request.headers as Record<string, string | string[]>,
  }
  if (request.method !== 'PUT') {
    void api.handleRequest(about, response)
    return
  }
  readBody(request, (text) => {
    void api.handleRequest({ ...about, body: JSON.parse(text) }, response)
  })
})
server.listen(Number(port), '127.0.0.1')
