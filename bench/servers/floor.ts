/**
 * The floor: the cost of `node:http` itself. It keeps resources as objects in a Map, parses and stringifies JSON,
 * and does nothing else: no router, no checks, no caller, nothing on disk.
 */

import { createServer } from 'node:http'
import { storedGroup, storedGroups } from '../payload.ts'
import { answer, readBody } from './answer.ts'

const [port = '0', count = '0'] = process.argv.slice(2)
const groups = new Map(storedGroups(Number(count)).map((group) => [group.name, group]))
let etag = 0

const server = createServer((request, response) => {
  const path = request.url ?? '/'
  const query = path.indexOf('?')
  const name = path.slice(path.lastIndexOf('/') + 1, query < 0 ? undefined : query)
  if (request.method === 'PUT') {
    readBody(request, (text) => {
      const group = storedGroup(name, JSON.parse(text))
      groups.set(name, group)
      answer(response, 200, ++etag, group)
    })
    return
  }
  const found = groups.get(name)
  answer(response, found === undefined ? 404 : 200, etag, found ?? { error: { code: 'NotFound' } })
})
server.listen(Number(port), '127.0.0.1')
