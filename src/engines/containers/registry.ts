/**
 * Checks the registries of images. The engine contacts them, not this process, so the outbound policy judges the
 * registry's host before the engine is told to pull. The engine resolves the name again by itself.
 */

import { NotReached, noAnswer, type Outbound } from '#outbound/outbound.ts'
import { EngineError } from './engine.ts'

const hub = 'registry-1.docker.io'
/** What the system says of a name for which it finds no address. */
const unresolved: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL'])

/** Throws `EngineError` for a registry that the policy refuses. Without a policy every one is allowed. */
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
    // A name that does not resolve here may be known to the engine, or belong to a mirror. One that was not looked up (no place was
    // free, the server ends) may lead anywhere.
    const { code } = (error.cause ?? {}) as NodeJS.ErrnoException
    if (!unresolved.has(code)) throw unreachedRegistry(image, error)
  }
}

/** An image without a host is on the hub that all engines know, where no name has a capital letter. */
function registryOf(image: string): string {
  const slash = image.indexOf('/')
  const first = slash < 0 ? '' : image.slice(0, slash)
  return first === 'localhost' || /[.:A-Z]/.test(first) ? first : hub
}

function unpulled(image: string, reason: string): string {
  return `the image '${image}' cannot be pulled: ${reason}`
}

function unreachedRegistry(image: string, cause: Error): EngineError {
  return new EngineError('unavailable', unpulled(image, `its registry: ${noAnswer}`), { cause })
}

/** Characters of what an engine says that are looked through. */
const readMax = 10_000

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
/** The answer was not of the protocol. Such messages contain the body of whatever answered. */
const noRegistry =
  /pinging container registry|dial tcp|error parsing HTTP|unexpected HTTP|gave HTTP response|malformed HTTP|unexpected status from/i

/**
 * The error for an engine's message about a failed pull. The message contains what answered at the registry's
 * address, so it becomes the error's cause, for the operator, and is not shown.
 */
export function failureOfPull(problem: string, image: string): EngineError {
  const cause = new Error(problem.slice(0, 2000))
  const read = problem.slice(0, readMax)
  const found = noRegistry.test(read) ? undefined : answers.find(([pattern]) => pattern.test(read))
  if (found === undefined) return unreachedRegistry(image, cause)
  const [, kind, reason] = found
  return new EngineError(kind, unpulled(image, reason), { cause })
}
