/** The servers that Armature is compared with: the floor and three peers, each started by its own program. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Requests } from '../load/job.ts'
import { openApiDocument } from '../openapi-document.ts'
import {
  resourceBody,
  resourceName,
  resourcePath,
  someSubscriptionId,
  storedGroups,
} from '../payload.ts'
import type { Contestant, Place } from '../scenario.ts'
import { ask } from './ask.ts'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const node = [process.execPath, '--disable-warning=ExperimentalWarning']

export const getCase = 'GET by id'
export const putCase = 'PUT whole'
export const mixedCase = 'half GET, half PUT'

/** The requests of both cases, for servers that need no token. */
function plainRequests(
  count: number,
  pathOf: (name: string) => string,
  body: string,
): Readonly<Record<string, Requests>> {
  const paths = Array.from({ length: count }, (_, index) => pathOf(resourceName(index)))
  const get: Requests = { method: 'GET', paths, headers: {}, expects: 200 }
  const put: Requests = { method: 'PUT', paths, headers: {}, body, expects: 200 }
  return { [getCase]: get, [putCase]: put, [mixedCase]: { ...put, half: get } }
}

const somePath = (name: string): string => resourcePath(someSubscriptionId, name)

async function answers(url: string): Promise<boolean> {
  return (await ask(url)).status === 200
}

/** `count` resources are in the Map from the start. With none, it gets no request for an existing one. */
export function floor(count: number): Contestant {
  return {
    name: 'node:http and a Map',
    note: 'the floor: parses and stringifies JSON, checks nothing; data in memory only',
    command: ({ port }) => ({
      command: [...node, here('../servers/floor.ts'), String(port), String(Math.max(1, count))],
    }),
    ask: ({ origin }) => answers(`${origin}${somePath(resourceName(0))}`),
    requests: async () => plainRequests(count, somePath, resourceBody('local')),
  }
}

export function openapiBackend(count: number): Contestant {
  const document = ({ folder }: Place): string => join(folder, 'openapi.json')
  return {
    name: 'openapi-backend',
    note: 'routes and validates by an OpenAPI document; data in memory only, no caller',
    prepare: (place) => writeFile(document(place), JSON.stringify(openApiDocument())),
    command: (place) => ({
      command: [
        ...node,
        here('../servers/openapi-backend.ts'),
        String(place.port),
        String(Math.max(1, count)),
        document(place),
      ],
    }),
    ask: ({ origin }) => answers(`${origin}${somePath(resourceName(0))}`),
    requests: async () => plainRequests(count, somePath, resourceBody('local')),
  }
}

export function prism(count: number): Contestant {
  const document = ({ folder }: Place): string => join(folder, 'openapi.json')
  return {
    name: 'Prism',
    note: 'mocks the OpenAPI document: validates, then answers its example; keeps nothing, no caller; log silent',
    prepare: (place) => writeFile(document(place), JSON.stringify(openApiDocument())),
    command: (place) => ({
      command: [
        ...node,
        here('../node_modules/@stoplight/prism-cli/dist/index.js'),
        'mock',
        ...['--host', '127.0.0.1', '--port', String(place.port), '--verboseLevel', 'silent'],
        document(place),
      ],
    }),
    ask: ({ origin }) => answers(`${origin}${somePath(resourceName(0))}`),
    requests: async () => plainRequests(count, somePath, resourceBody('local')),
  }
}

export function jsonServer(count: number): Contestant {
  const file = ({ folder }: Place): string => join(folder, 'db.json')
  return {
    name: 'json-server',
    note: 'writes its whole file at every change, without a flush; no checks, no caller; log quiet',
    prepare: (place) => {
      const groups = storedGroups(Math.max(1, count)).map((group) => ({ ...group, id: group.name }))
      return writeFile(file(place), JSON.stringify({ groups }))
    },
    command: (place) => ({
      command: [
        ...node,
        here('../node_modules/json-server/lib/cli/bin.js'),
        ...['--host', '127.0.0.1', '--port', String(place.port), '--quiet', '--no-gzip'],
        file(place),
      ],
      folder: place.folder,
    }),
    ask: ({ origin }) => answers(`${origin}/groups/${resourceName(0)}`),
    requests: async () => plainRequests(count, (name) => `/groups/${name}`, resourceBody('local')),
  }
}
