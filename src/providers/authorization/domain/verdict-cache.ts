/**
 * Remembers verdicts by caller, action and scope. Three nested maps use strings that the caller has anyway, so a
 * repeated question makes and hashes no new string. When it is full, it is emptied.
 */

import type { Verdict } from '#plane/access.ts'

interface VerdictCache {
  get(principalId: string, action: string, scopeKey: string): Verdict | undefined
  set(principalId: string, action: string, scopeKey: string, verdict: Verdict): void
  clear(): void
}

export function createVerdictCache(max: number): VerdictCache {
  const byPrincipal = new Map<string, Map<string, Map<string, Verdict>>>()
  let size = 0

  function clear(): void {
    byPrincipal.clear()
    size = 0
  }

  return {
    get: (principalId, action, scopeKey) =>
      byPrincipal.get(principalId)?.get(action)?.get(scopeKey),
    set(principalId, action, scopeKey, verdict) {
      // Emptying is rare, and cheap compared with recording the order of use at every hit.
      if (size >= max) clear()
      const byAction = byPrincipal.get(principalId) ?? new Map<string, Map<string, Verdict>>()
      const byScope = byAction.get(action) ?? new Map<string, Verdict>()
      byScope.set(scopeKey, verdict)
      byAction.set(action, byScope)
      byPrincipal.set(principalId, byAction)
      size += 1
    },
    clear,
  }
}
