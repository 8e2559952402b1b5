/**
 * Converts errors of a Docker API or its socket into the port's error. Podman returns 500 where Docker returns 4xx,
 * so the message is read too; the texts are those of Podman 4.3 and of Docker's sources.
 */

import { EngineError, type EngineErrorKind } from '../engine.ts'
import { parseJson, textAt } from '../json.ts'

const wording: readonly (readonly [RegExp, EngineErrorKind])[] = [
  [/address already in use|port is already allocated/i, 'busy'],
  [
    /already in use|is not running|state improper|removal [^\n]{0,200} in progress|dependent containers/i,
    'busy',
  ],
  [/no such (container|image|volume|exec)|image not known/i, 'absent'],
  [/command that was not found|executable file not found|no such file or directory/i, 'refused'],
  [/unable to find (?:user|group) /i, 'refused'],
  [/workdir \S+ does not exist on container/i, 'refused'],
  [/no command (?:or entrypoint|specified)/i, 'refused'],
  [/error mounting|read-only file system/i, 'refused'],
  [/OCI permission denied|invalid argument|operation not permitted/i, 'refused'],
]

/** The error for an answer with an error status. */
export function failureOf(status: number, body: string, doing: string): EngineError {
  const reason = bothEnds(textAt(parseJson(body), 'message') || body.slice(0, 500).trim())
  const message = `${doing}: ${reason || `status ${status}`}`
  const worded = wording.find(([pattern]) => pattern.test(reason))?.[1]
  if (status === 404) return new EngineError('absent', message)
  if (status === 409) return new EngineError('busy', message)
  if (status >= 500) return new EngineError(worded ?? 'unavailable', message)
  return new EngineError(worded ?? 'refused', message)
}

const endMax = 900

/** A long text without its middle: runtimes repeat what they were given, and say at the end what is wrong with it. */
function bothEnds(text: string): string {
  return text.length <= 2 * endMax ? text : `${text.slice(0, endMax)} … ${text.slice(-endMax)}`
}
