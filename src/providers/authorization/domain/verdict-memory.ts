/**
 * Verdicts by caller, action and scope. Three maps inside each other: their keys are strings that the caller has at hand,
 * so no string is made and hashed for a question that was asked before. Full, it starts anew.
 */

import type { Verdict } from '#plane/access.ts'

interface VerdictMemory {
  get(principalId: string, action: string, scopeKey: string): Verdict | undefined
  set(principalId: string, action: string, scopeKey: string, verdict: Verdict): void
  clear(): void
}

export function createVerdictMemory(max: number): VerdictMemory {
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
      // Starting anew is rare and cheap next to keeping an order of use on every hit.
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
