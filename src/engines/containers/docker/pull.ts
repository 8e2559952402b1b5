/**
 * Pulls an image. A good status means nothing: errors are among the lines of progress, and only an inspection of the image
 * afterwards proves the pull (facts B.2). Docker answers with a bad one where it fails early. In both the engine repeats what
 * answered at the registry's address.
 */

import { withoutSecrets } from '#kernel/short-words.ts'
import { failureOfConnection } from '../answer.ts'
import { EngineError, type RegistryCredentials } from '../engine.ts'
import { parseJson, textAt } from '../json.ts'
import { failureOfPull } from '../registry.ts'
import { imageProblem } from '../safe-text.ts'
import type { DockerClient } from './client.ts'
import { inspectImage } from './inspect-image.ts'

const silentSeconds = 300
const lineCharactersMax = 64 * 1024

export async function pullImage(
  client: DockerClient,
  image: string,
  options: {
    /** By which API the image is looked at afterwards. */
    readonly api: 'docker' | 'libpod'
    readonly credentials?: RegistryCredentials
    readonly signal?: AbortSignal
  },
): Promise<void> {
  const doing = `pull the image '${image}'`
  const problem = imageProblem(image)
  if (problem !== undefined) throw new EngineError('refused', `${doing}: ${problem}`)
  const failed = (words: string): EngineError =>
    failureOfPull(withoutSecrets(words, secretsOf(options.credentials)), image)
  const response = await client.stream({
    kind: 'stream',
    method: 'POST',
    path: '/images/create',
    query: { fromImage: withTag(image) },
    headers: { 'x-registry-auth': auth(options.credentials) },
    doing,
    silentSeconds,
    failureOf: (status, body) =>
      failed(textAt(parseJson(body), 'message') || body || `status ${status}`),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
  let failure = ''
  let line = ''
  try {
    for await (const chunk of response) {
      line += String(chunk)
      const lines = line.split('\n')
      line = (lines.pop() ?? '').slice(0, lineCharactersMax)
      for (const each of lines) failure ||= textAt(parseJson(each), 'error')
    }
  } catch (cause) {
    throw failureOfConnection(cause, doing)
  }
  failure ||= textAt(parseJson(line), 'error')
  if (failure !== '') throw failed(failure)
  await inspectImage(client, image, { api: options.api, doing })
}

/** A registry may repeat what it was sent. */
function secretsOf(credentials: RegistryCredentials | undefined): readonly string[] {
  if (credentials === undefined) return []
  const { username, password } = credentials
  return [password, Buffer.from(`${username}:${password}`).toString('base64')]
}

/** Without a tag or digest Docker pulls every tag. */
function withTag(image: string): string {
  const last = image.slice(image.lastIndexOf('/') + 1)
  return last.includes(':') || last.includes('@') ? image : `${image}:latest`
}

/**
 * The header needs the URL-safe alphabet with padding; engines refuse anything else. Podman would take the sign-in of its host
 * where there is no header, and none where it is empty (decision 0390).
 */
function auth(credentials: RegistryCredentials | undefined): string {
  const given =
    credentials === undefined
      ? {}
      : {
          username: credentials.username,
          password: credentials.password,
          serveraddress: credentials.server,
        }
  const text = Buffer.from(JSON.stringify(given)).toString('base64')
  return text.replaceAll('+', '-').replaceAll('/', '_')
}
