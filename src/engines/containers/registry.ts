/**
 * Registries of images. The engine asks them, not this process: the policy of what goes out judges the registry's host
 * before the engine is told to pull. The engine resolves the name again by itself.
 */

import { NotReached, noAnswer, type Outbound } from '#outbound/outbound.ts'
import { EngineError } from './engine.ts'

const hub = 'registry-1.docker.io'

/** Throws `EngineError` for a registry that must not be asked. Without a policy every one may be. */
export async function requireRegistry(
  image: string,
  outbound: Outbound | undefined,
): Promise<void> {
  if (outbound === undefined) return
  const url = URL.parse(`https://${registryOf(image)}/`)
  if (url === null) throw new EngineError('refused', unpulled(image, 'it names no registry'))
  const port = url.port === '' ? 443 : Number(url.port)
  try {
    await outbound.route({ scheme: 'https', host: url.hostname, port })
  } catch (error) {
    if (!(error instanceof NotReached)) throw error
    if (error.isRuledOut) {
      const reason = 'its registry must not be asked from here'
      throw new EngineError('refused', unpulled(image, reason), { cause: error })
    }
    // A name that is unknown here may be known to the engine, or be a mirror's.
    if (error.cause === undefined) throw unreachedRegistry(image, error)
  }
}

/** An image without a host is of the hub that all engines know. */
function registryOf(image: string): string {
  const slash = image.indexOf('/')
  const first = slash < 0 ? '' : image.slice(0, slash)
  const isHost = first.includes('.') || first.includes(':') || first === 'localhost'
  return isHost ? first : hub
}

function unpulled(image: string, reason: string): string {
  return `the image '${image}' cannot be pulled: ${reason}`
}

function unreachedRegistry(image: string, cause: Error): EngineError {
  return new EngineError('unavailable', unpulled(image, `its registry: ${noAnswer}`), { cause })
}

/** What a registry says by its protocol, as its clients word it, and what is told of it. */
const answers: readonly (readonly [RegExp, 'refused' | 'absent', string])[] = [
  [
    /unauthori[sz]ed|authentication required|access denied|is denied|\bdenied:|forbidden/i,
    'refused',
    'the registry refuses access: the credentials are wrong, or missing',
  ],
  [
    /manifest unknown|name unknown|unknown image|manifest for .* not found|repository .*not found/i,
    'absent',
    'the registry has no such image',
  ],
  [/invalid reference|parsing reference|invalid image/i, 'refused', 'its name is no reference'],
]
/** It never came to the protocol. Bodies of whatever answered stand in these words. */
const noRegistry =
  /pinging container registry|dial tcp|error parsing HTTP|unexpected HTTP|gave HTTP response|malformed HTTP|unexpected status from/i

/**
 * For what an engine says of a pull that failed. Its words hold what answered at the registry's address, so they are
 * the error's cause, for the operator, and no part of its message.
 */
export function failureOfPull(told: string, image: string): EngineError {
  const cause = new Error(told.slice(0, 2000))
  const found = noRegistry.test(told) ? undefined : answers.find(([pattern]) => pattern.test(told))
  if (found === undefined) return unreachedRegistry(image, cause)
  const [, kind, reason] = found
  return new EngineError(kind, unpulled(image, reason), { cause })
}
