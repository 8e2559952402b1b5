/** The folder and the port a contestant gets. */

import { mkdir, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Place } from '../scenario.ts'

export async function makePlace(dataFolder: string, name: string): Promise<Place> {
  const folder = join(dataFolder, name.toLowerCase().replace(/[^a-z0-9]+/g, '-'))
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const port = await freePort()
  return { folder, port, origin: `http://127.0.0.1:${port}` }
}

/** Another process could take the port before the server does. Then the server fails and the run ends. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      if (address === null || typeof address === 'string') throw new Error('no port was given')
      probe.close(() => resolve(address.port))
    })
  })
}
