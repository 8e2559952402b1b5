/** Whoever closes a dialog goes on where they were. */

import { useEffect, useState } from 'react'

/** When the component goes, what had the focus before it came gets it back; the content, where that is gone. */
export function useReturnFocus(): void {
  const [before] = useState(() => document.activeElement)
  useEffect(
    () => () => {
      // The page is hidden from assistive technology until the dialog is gone.
      requestAnimationFrame(() => {
        if (document.activeElement !== document.body) return
        const isThere =
          before instanceof HTMLElement && before.isConnected && before !== document.body
        const target = isThere ? before : document.getElementById('content')
        target?.focus()
      })
    },
    [before],
  )
}
