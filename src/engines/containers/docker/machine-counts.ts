/**
 * What the kernel counts for the whole machine, or for a user of it in all containers. A program of one container can take all of it:
 * the server or the engine then ends, or others are refused.
 */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What each is to be at least, so that the memory of a container ends before it does. */
const wanted: Readonly<Record<string, number>> = {
  'fs.aio-max-nr': 1_000_000_000,
  'fs.epoll.max_user_watches': 1_000_000_000,
  'fs.inotify.max_user_instances': 65_536,
  'kernel.pid_max': 4_194_304,
  'kernel.pty.max': 1_048_576,
  'kernel.threads-max': 4_194_304,
  'net.ipv4.neigh.default.gc_thresh3': 1_048_576,
  'net.ipv6.neigh.default.gc_thresh3': 1_048_576,
}

/** Those of this machine that are lower, with the value to set. Systems that do not have one count it otherwise. */
export async function lowCounts(folder = '/proc/sys'): Promise<readonly string[]> {
  const found = await Promise.allSettled(
    Object.entries(wanted).map(async ([name, least]) => {
      const text = await readFile(join(folder, name.replaceAll('.', '/')), 'utf8')
      return Number(text) < least ? [`${name}=${least}`] : []
    }),
  )
  return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
}
