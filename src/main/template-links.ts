/**
 * Fetches linked templates for deployments: only below the addresses that the operator listed, without redirects,
 * and by the outbound policy. It does not read their content.
 */

import { createRoom, inRoom } from '#kernel/room.ts'
import { NotReached, noAnswer, type Outbound } from '#outbound/outbound.ts'
import { answerOf, TooLarge, textOf } from '#outbound/request.ts'
import type { LinkedText, TemplateLinks } from '#providers/resources/provider.ts'

interface TemplateLinkOptions {
  readonly outbound: Outbound
  /** The addresses end with a slash. */
  readonly allowed: readonly string[]
  readonly timeoutSeconds?: number
}

/** A template has at most four million characters, of up to three bytes each as UTF-8. */
const bytesMax = 12 * 1024 * 1024
/** Requests of one owner whose texts, two at most, are read or held. */
const atOncePerOwnerMax = 2
const atOnceMax = 16

export function openTemplateLinks(options: TemplateLinkOptions): TemplateLinks {
  const allowed = options.allowed.flatMap((one) => URL.parse(one) ?? [])
  const room = createRoom({ perOwnerMax: atOncePerOwnerMax, sumMax: atOnceMax })
  return {
    inRoom: (ownerId, work, awaited) => inRoom(room, ownerId, work, awaited),
    async read(uri) {
      const url = URL.parse(uri)
      if (url === null) return refused('it is no address')
      if (url.username !== '' || url.password !== '')
        return refused('it holds a name or a password')
      if (!allowed.some((one) => isBelow(url, one)))
        return refused('its address is not allowed here')
      return fetched(url, options)
    },
  }
}

function refused(reason: string): LinkedText {
  return { ok: false, reason }
}

/** A segment of dots. A server may take an escaped slash for one, and what follows `;` for no part of a segment. */
const dots = /(?:\/|\\|%2f|%5c)(?:\.|%2e){1,2}(?=\/|\\|%2f|%5c|;|$)/i

/** Both were parsed, so plain dots and default ports are as the request will have them. */
function isBelow({ origin, pathname }: URL, allowed: URL): boolean {
  return origin === allowed.origin && pathname.startsWith(allowed.pathname) && !dots.test(pathname)
}

/** Never throws: every failure becomes a reason. */
async function fetched(url: URL, options: TemplateLinkOptions): Promise<LinkedText> {
  const signal = AbortSignal.timeout((options.timeoutSeconds ?? 10) * 1000)
  try {
    const answer = await answerOf(options.outbound, { url, signal })
    const { statusCode = 0 } = answer
    if (statusCode >= 300 && statusCode < 400) {
      answer.destroy()
      return refused('it is redirected, and redirects are not followed')
    }
    if (statusCode !== 200) {
      answer.destroy()
      return refused(`it is answered with the status ${statusCode}`)
    }
    return { ok: true, text: await textOf(answer, bytesMax) }
  } catch (error) {
    if (error instanceof TooLarge || error instanceof NotReached) return refused(error.message)
    return refused(signal.aborted ? 'it takes too long' : noAnswer)
  }
}
