/** A terminal with a command in a container. It is loaded when a shell is opened. */

import { makeStyles, tokens } from '@fluentui/react-components'
import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'
import { useEffect, useRef } from 'react'
import { ApiFailure, call } from '../../api/client.ts'
import { useLook } from '../../app/look.tsx'
import { shellTexts } from '../../texts/work.ts'
import type { GroupPath } from './containers-tab.tsx'
import { openShellSession, type ShellSession } from './shell-session.ts'
import { drawInChunks, leaveOutGreatCounts } from './terminal-counts.ts'

const useStyles = makeStyles({
  box: {
    height: '360px',
    minWidth: 0,
    overflow: 'hidden',
    padding: tokens.spacingHorizontalS,
    backgroundColor: tokens.colorNeutralBackground3,
    borderRadius: tokens.borderRadiusMedium,
    ':focus-within': { outline: `2px solid ${tokens.colorStrokeFocus2}` },
  },
})

const fontSize = 13
/** The contrast of WCAG AA, whatever colours a program chooses. */
const contrast = 4.5

interface ShellProps {
  readonly path: GroupPath
  readonly container: string
  readonly command: string
  readonly isEnded: boolean
  readonly onEnd: (reason: string | ApiFailure) => void
}

export function ShellTerminal({ path, container, command, isEnded, onEnd }: ShellProps) {
  const styles = useStyles()
  const { dark } = useLook()
  const box = useRef<HTMLDivElement>(null)
  const shown = useRef<Terminal>(undefined)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a terminal has one conversation; another one is another terminal
  useEffect(() => {
    const host = box.current
    if (host === null) return
    const terminal = new Terminal({
      fontFamily: styleOf(host, '--fontFamilyMonospace'),
      fontSize,
      minimumContrastRatio: contrast,
      screenReaderMode: true,
      cursorBlink: false,
    })
    leaveOutGreatCounts(terminal)
    shown.current = terminal
    const fit = new FitAddon()
    terminal.loadAddon(fit)
    terminal.open(host)
    terminal.textarea?.setAttribute('aria-label', shellTexts.shellOf(container))
    // Otherwise the keyboard could not leave the terminal: the shell takes Tab.
    terminal.attachCustomKeyEventHandler(({ key, shiftKey }) => !(key === 'Tab' && shiftKey))
    fit.fit()
    terminal.focus()
    host.scrollIntoView({ block: 'nearest' })
    let session: ShellSession | undefined
    let isOpen = false
    let left = false
    /** Input that is typed before the shell is ready. */
    const early: Uint8Array<ArrayBuffer>[] = []
    const type = (bytes: Uint8Array<ArrayBuffer>): void => {
      if (isOpen) session?.write(bytes)
      else early.push(bytes)
    }
    const finish = (reason: string | ApiFailure): void => {
      if (!left) onEnd(reason)
    }
    const body = { command, terminalSize: { rows: terminal.rows, cols: terminal.cols } }
    call('execContainer', { path: { ...path, containerName: container }, body }).then(
      ({ body: offer }) => {
        if (left) return
        session = openShellSession(offer, {
          onOpen: () => {
            isOpen = true
            for (const bytes of early) session?.write(bytes)
          },
          onBytes: (bytes, drawn) => drawInChunks(terminal, bytes, drawn),
          onEnd: finish,
        })
      },
      (error: unknown) => {
        if (!(error instanceof ApiFailure)) throw error
        finish(error)
      },
    )
    const encoder = new TextEncoder()
    terminal.onData((text) => type(encoder.encode(text)))
    terminal.onBinary((text) => type(Uint8Array.from(text, (one) => one.charCodeAt(0))))
    return () => {
      left = true
      session?.close()
      terminal.dispose()
    }
  }, [])
  useEffect(() => {
    const host = box.current
    if (host === null || shown.current === undefined) return
    shown.current.options.disableStdin = isEnded
    shown.current.options.theme = {
      background: styleOf(host, '--colorNeutralBackground3'),
      foreground: styleOf(host, '--colorNeutralForeground1'),
      cursor: styleOf(host, '--colorNeutralForeground1'),
      cursorAccent: styleOf(host, '--colorNeutralBackground3'),
      selectionBackground: styleOf(
        host,
        dark ? '--colorBrandBackground' : '--colorBrandBackground2',
      ),
    }
  }, [dark, isEnded])
  return <div ref={box} className={styles.box} />
}

function styleOf(element: Element, name: string): string {
  return getComputedStyle(element).getPropertyValue(name).trim()
}
