/** Prints the changes of a what-if as lines for people, with a colour for each kind of change. */

import { textOf } from '#client/answer.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { dim, green, red, yellow } from './output/print.ts'
import { printable } from './output/table.ts'
import type { Terminal } from './terminal.ts'

type Paint = (terminal: Terminal, text: string) => string

interface Kind {
  readonly sign: string
  readonly paint: Paint
  readonly counted: string
}

const kinds: Readonly<Record<string, Kind>> = {
  Create: { sign: '+', paint: green, counted: 'to create' },
  Modify: { sign: '~', paint: yellow, counted: 'to modify' },
  Deploy: { sign: '!', paint: yellow, counted: 'to deploy' },
  Array: { sign: '~', paint: yellow, counted: 'to modify' },
  Delete: { sign: '-', paint: red, counted: 'to delete' },
  Detach: { sign: 'v', paint: yellow, counted: 'to let go' },
  NoChange: { sign: '=', paint: dim, counted: 'unchanged' },
  NoEffect: { sign: '=', paint: dim, counted: 'without effect' },
  Ignore: { sign: '*', paint: dim, counted: 'not part of the template' },
  Unsupported: { sign: '?', paint: yellow, counted: 'that cannot be foretold' },
}

const unknownKind: Kind = { sign: '?', paint: yellow, counted: 'of another kind' }

const valueCharactersMax = 200

export function changeLines(
  terminal: Terminal,
  changes: readonly unknown[],
  short: boolean,
): readonly string[] {
  const lines: string[] = []
  const counts = new Map<string, number>()
  for (const change of changes) {
    const kind = kindOf(textOf(change, 'changeType'))
    counts.set(kind.counted, (counts.get(kind.counted) ?? 0) + 1)
    const id = printable(textOf(change, 'resourceId') ?? '')
    const reason = textOf(change, 'unsupportedReason')
    const why = reason === undefined ? '' : ` (${printable(reason)})`
    lines.push(kind.paint(terminal, `${kind.sign} ${id}${why}`))
    const delta = isJsonObject(change) ? change['delta'] : undefined
    if (!short && Array.isArray(delta)) lines.push(...deltaLines(terminal, delta, 1))
  }
  const summary = [...counts].map(([words, count]) => `${count} ${words}`).join(', ')
  return [...lines, summary === '' ? 'Nothing would change: the template is empty.' : `${summary}.`]
}

function deltaLines(
  terminal: Terminal,
  delta: readonly unknown[],
  depth: number,
): readonly string[] {
  return delta.flatMap((change) => {
    const kind = kindOf(textOf(change, 'propertyChangeType'))
    const path = printable(textOf(change, 'path') ?? '')
    const line = `${'  '.repeat(depth)}${kind.sign} ${path}${valuesOf(change)}`
    const children = isJsonObject(change) ? change['children'] : undefined
    return [
      kind.paint(terminal, line),
      ...(Array.isArray(children) ? deltaLines(terminal, children, depth + 1) : []),
    ]
  })
}

/** `: before => after`, where they are known. */
function valuesOf(change: unknown): string {
  if (!isJsonObject(change)) return ''
  const before = 'before' in change ? shown(change['before']) : undefined
  const after = 'after' in change ? shown(change['after']) : undefined
  if (before !== undefined && after !== undefined) return `: ${before} => ${after}`
  const only = before ?? after
  return only === undefined ? '' : `: ${only}`
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  const cut = text.length > valueCharactersMax ? `${text.slice(0, valueCharactersMax)}…` : text
  return printable(cut)
}

function kindOf(name: string | undefined): Kind {
  return Object.hasOwn(kinds, name ?? '') ? (kinds[name ?? ''] ?? unknownKind) : unknownKind
}
