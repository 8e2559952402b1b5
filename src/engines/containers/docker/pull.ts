/**
 * Pulls an image. The answer's status says nothing: errors stand among the lines of progress, and only the
 * image itself, looked at afterwards, proves the pull (facts B.2).
 */

import { failureOfConnection } from '../answer.ts'
import { EngineError, type RegistryCredentials } from '../engine.ts'
import { parseJson, textAt } from '../json.ts'
import { failureOfPull } from '../registry.ts'
import { imageProblem } from '../safe-text.ts'
import type { DockerClient } from './client.ts'
import { pathOf } from './names.ts'

const silentSeconds = 300
const lineCharactersMax = 64 * 1024

export async function pullImage(
  client: DockerClient,
  image: string,
  options: { readonly credentials?: RegistryCredentials; readonly signal?: AbortSignal },
): Promise<void> {
  const doing = `pull the image '${image}'`
  const problem = imageProblem(image)
  if (problem !== undefined) throw new EngineError('refused', `${doing}: ${problem}`)
  const response = await client.stream({
    method: 'POST',
    path: '/images/create',
    query: { fromImage: withTag(image) },
    headers:
      options.credentials === undefined ? {} : { 'x-registry-auth': auth(options.credentials) },
    doing,
    silentSeconds,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
  let told = ''
  let line = ''
  try {
    for await (const chunk of response) {
      line += String(chunk)
      const lines = line.split('\n')
      line = (lines.pop() ?? '').slice(0, lineCharactersMax)
      for (const each of lines) told ||= textAt(parseJson(each), 'error')
    }
  } catch (cause) {
    throw failureOfConnection(cause, doing)
  }
  told ||= textAt(parseJson(line), 'error')
  if (told !== '') throw failureOfPull(told, image)
  await client.json({ method: 'GET', path: `/images/${pathOf(image)}/json`, doing })
}

/** Without a tag or digest Docker pulls every tag there is. */
function withTag(image: string): string {
  const last = image.slice(image.lastIndexOf('/') + 1)
  return last.includes(':') || last.includes('@') ? image : `${image}:latest`
}

/** In the alphabet for addresses, and padded: engines refuse the header otherwise. */
function auth(credentials: RegistryCredentials): string {
  const text = Buffer.from(
    JSON.stringify({
      username: credentials.username,
      password: credentials.password,
      serveraddress: credentials.server,
    }),
  ).toString('base64')
  return text.replaceAll('+', '-').replaceAll('/', '_')
}
