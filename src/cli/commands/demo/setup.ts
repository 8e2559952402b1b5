/** Shared by the areas of the demo: the sample group, principals by name, and notes on what was prepared. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { textOf } from '#client/answer.ts'
import type { Client } from '#client/client.ts'
import { isJsonObject } from '#kernel/patch.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { Person } from '../../consent.ts'
import type { Connection } from '../../context.ts'
import { idOf } from '../../directory.ts'
import { apiVersions, resourceGroupPath } from '../../resource-path.ts'
import type { DemoCaller } from './area.ts'

export interface DemoSetup {
  readonly client: Client
  readonly words: VendorWords
  readonly subscriptionId: string
  /** The installation's address for browsers. */
  readonly url: string
  /** The owner, if the installation runs on this machine. */
  readonly owner: Person | undefined
  /** The home folder, where a demo may store what it needs to continue later. */
  readonly home: string
  /** True when the installation runs on this machine. */
  readonly isHere: boolean
  /** What ends with the demo, in reverse order. */
  readonly kept: AsyncDisposableStack
  /** Tells the reader what happens, also after the calls are printed. */
  say(text: string): void
  /** Creates the resource group `demo` if needed, and returns its path. */
  group(): Promise<string>
  /** Creates a service principal of that name if needed, and returns its object id. */
  servicePrincipal(displayName: string): Promise<string>
  /** Like `servicePrincipal`, with a secret that is stored in the home folder. */
  caller(displayName: string): Promise<DemoCaller>
  /** The secret that `caller` stored. */
  secretOf(caller: DemoCaller): string
  /** Puts a file into a storage account's folder, if the installation runs on this machine. */
  sample(path: string, text: string): void
  /** The name of a location of the installation. */
  location(): Promise<string>
  /** Sends a PUT, waits for its end, and returns the body. */
  put(path: string, body: object, note: string): Promise<unknown>
  /** Notes for the reader what was prepared. */
  note(text: string): void
  /** The notes since the last call. */
  takeNotes(): readonly string[]
}

const groupName = 'demo'

/** Stores the secrets of the demo's applications between runs. */
interface DemoSecrets {
  fileOf(displayName: string, clientId: string): string
  has(file: string): boolean
  read(file: string): string
  /** Only its owner may read the file. */
  write(file: string, secret: string): void
  /** Writes a file below the installation's storage folder, if it runs on this machine. */
  sample?(path: string, text: string): void
}

export function secretsIn(folder: string): DemoSecrets {
  return {
    // The name includes the client id, because another installation's application can have the same name.
    fileOf: (displayName, clientId) => join(folder, `${displayName}-${clientId}.secret`),
    has: existsSync,
    read: (file) => readFileSync(file, 'utf8').trim(),
    write(file, secret) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeFileSync(file, `${secret}\n`, { mode: 0o600 })
    },
    sample(path, text) {
      const file = join(folder, 'storage', path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    },
  }
}

/** What the demo has besides the installation. */
interface DemoHostContext {
  readonly home: string
  readonly kept: AsyncDisposableStack
  readonly owner: Person | undefined
  say(text: string): void
}

export function createDemoSetup(
  connection: Connection,
  subscriptionId: string,
  secrets: DemoSecrets,
  host: DemoHostContext,
): DemoSetup {
  const { client, words } = connection
  let notes: string[] = []
  const fixture: DemoSetup = {
    client,
    words,
    subscriptionId,
    url: connection.running?.url ?? connection.url,
    isHere: connection.running !== undefined,
    ...host,
    secretOf: ({ secretFile }) => secrets.read(secretFile),
    async group() {
      const path = resourceGroupPath(subscriptionId, groupName)
      const query = { 'api-version': apiVersions.resourceGroups }
      const there = await client.send('GET', path, { query })
      if (there.status !== 200) {
        const body = { location: await fixture.location() }
        await client.waitForOperation(await client.request('PUT', path, { query, body }))
      }
      fixture.note(`Resource group ${groupName}`)
      return path
    },
    async servicePrincipal(displayName) {
      const collection = '/directory/servicePrincipals'
      let id: string | undefined
      for await (const item of client.items(collection)) {
        if (textOf(item, 'displayName') === displayName) id ??= idOf(item)
      }
      id ??= idOf((await client.request('POST', collection, { body: { displayName } })).body)
      fixture.note(`Service principal ${displayName} (${id})`)
      return id
    },
    async caller(displayName) {
      const principalId = await fixture.servicePrincipal(displayName)
      const path = `/directory/servicePrincipals/${principalId}`
      const clientId = textOf((await client.request('GET', path)).body, 'clientId')
      if (clientId === undefined) throw new TypeError('the directory answered with no client id')
      const secretFile = secrets.fileOf(displayName, clientId)
      if (!secrets.has(secretFile)) {
        const body = { displayName: 'demo' }
        const made = await client.request('POST', `${path}/secrets`, { body })
        secrets.write(secretFile, textOf(made.body, 'clientSecret') ?? '')
      }
      return { principalId, clientId, secretFile }
    },
    sample(path, text) {
      if (connection.running !== undefined) secrets.sample?.(path, text)
    },
    async location() {
      const path = `/subscriptions/${subscriptionId}/locations`
      const query = { 'api-version': apiVersions.subscriptions }
      const { body } = await client.request('GET', path, { query })
      const list = isJsonObject(body) ? body['value'] : undefined
      const name = Array.isArray(list) ? textOf(list[0], 'name') : undefined
      if (name === undefined) throw new TypeError('the installation lists no location')
      return name
    },
    async put(path, body, note) {
      const answer = await client.waitForOperation(await client.request('PUT', path, { body }))
      fixture.note(note)
      return answer.body
    },
    note(text) {
      notes.push(text)
    },
    takeNotes() {
      const taken = notes
      notes = []
      return taken
    },
  }
  return fixture
}
