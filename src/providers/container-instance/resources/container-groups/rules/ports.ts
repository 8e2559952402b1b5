/** Problems of a list of ports, of an address or of containers that share one network. */

import type { Problem } from '#kernel/error.ts'
import { problemOf } from '../../../errors.ts'

/** `seen` collects used ports, for lists that share one network. */
export function portProblems(
  ports: readonly { readonly port: number; readonly protocol?: string }[],
  path: string,
  seen: Set<string>,
): readonly Problem[] {
  const problems: Problem[] = []
  for (const [at, { port, protocol = 'TCP' }] of ports.entries()) {
    if (port < 1 || port > 65_535) {
      problems.push(problemOf('InvalidPort', `${path}[${at}].port`, { port }))
    }
    if (!['TCP', 'UDP'].includes(protocol)) {
      problems.push(problemOf('InvalidProtocol', `${path}[${at}].protocol`, { value: protocol }))
    }
    const key = `${port}/${protocol}`
    if (seen.has(key)) problems.push(problemOf('DuplicatePort', `${path}[${at}].port`, { port }))
    seen.add(key)
  }
  return problems
}
