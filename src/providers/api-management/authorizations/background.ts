/** Refreshes tokens before they expire. Every replica looks; who takes the lease of a connection refreshes it. */

import { rootId } from '#kernel/resource-id.ts'
import { type Authorization, types } from './model.ts'
import type { ConsentParts } from './parts.ts'
import { isDue, refresh } from './tokens.ts'

const everyMilliseconds = 20_000
const rowsAtOnce = 200
const atOnce = 8

export function startRefreshing(parts: ConsentParts): AsyncDisposable {
  let stopped = false
  let timer: { cancel(): void } | undefined
  let underway: Promise<void> = Promise.resolve()
  const next = (): void => {
    underway = guarded(parts, () => stopped).then(() => {
      if (!stopped) timer = parts.timers.after(everyMilliseconds, next)
    })
  }
  timer = parts.timers.after(everyMilliseconds, next)
  return {
    async [Symbol.asyncDispose]() {
      stopped = true
      timer?.cancel()
      await underway
    },
  }
}

/** The world fails; the next look comes soon. */
async function guarded(parts: ConsentParts, isStopped: () => boolean): Promise<void> {
  try {
    await refreshDue(parts, isStopped)
  } catch (error) {
    parts.log.warn({ error: String(error) }, 'tokens wait to be refreshed')
  }
}

export async function refreshDue(
  parts: ConsentParts,
  isStopped: () => boolean = () => false,
): Promise<void> {
  let after: string | undefined
  for (;;) {
    const rows = await parts.services.reader.list({
      type: types.authorizations,
      under: rootId,
      ...(after === undefined ? {} : { after }),
      limit: rowsAtOnce,
    })
    const now = parts.clock.now()
    // Rows of this type were made by its `toModel`.
    const due = rows.filter((row) => isDue(row.model as Authorization, now))
    for (let at = 0; at < due.length && !isStopped(); at += atOnce) {
      await Promise.all(due.slice(at, at + atOnce).map((row) => refresh(parts, row.id.key)))
    }
    after = rows.at(-1)?.id.key
    if (rows.length < rowsAtOnce || after === undefined || isStopped()) return
  }
}
