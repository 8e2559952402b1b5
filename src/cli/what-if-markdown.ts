/**
 * Prints the changes of a what-if as Markdown, for a comment on a pull request. Texts of templates and resources
 * are in code spans, so they are never markup. The length is bounded like comments are, and what is left out is
 * counted.
 */

import { textOf } from '#client/answer.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { parseResourceId } from '#kernel/resource-id.ts'
import { codeSpan as code } from './output/markdown.ts'

/** The length of a comment that services accept, less what surrounds it. */
const lengthMax = 60_000
const valueCharactersMax = 200

const verbs: Readonly<Record<string, string>> = {
  Create: 'to create',
  Modify: 'to modify',
  Deploy: 'to deploy',
  Delete: 'to delete',
  Unsupported: 'that cannot be foretold',
  NoChange: 'unchanged',
  NoEffect: 'without effect',
  Ignore: 'not part of the template',
}
/** Only the number of these is printed. */
const quiet: ReadonlySet<string> = new Set(['NoChange', 'NoEffect', 'Ignore'])

/** Whether the deployment would change anything, or may. */
export function hasChanges(changes: readonly unknown[]): boolean {
  return changes.some((change) => !quiet.has(textOf(change, 'changeType') ?? ''))
}

export function markdownOf(name: string, changes: readonly unknown[]): string {
  const byType = Map.groupBy(changes, (change) => textOf(change, 'changeType') ?? 'Unsupported')
  const order = [...Object.keys(verbs), ...byType.keys()]
  const types = [...new Set(order)].filter((type) => byType.has(type))
  const counts = types.map(
    (type) => `${byType.get(type)?.length} ${verbs[type] ?? 'of another kind'}`,
  )
  const summary = counts.length === 0 ? 'Nothing: the template is empty' : counts.join(', ')
  const blocks = types
    .filter((type) => !quiet.has(type))
    .flatMap((type) => (byType.get(type) ?? []).map((change) => changeBlock(type, change)))
  const head = `### What-if of ${code(name)}\n\n**${summary}.**\n`
  let length = head.length
  const shown = blocks.filter((block) => {
    length += block.length
    return length <= lengthMax
  })
  const left = blocks.length - shown.length
  return [head, ...shown, ...(left === 0 ? [] : [`\n${left} more are left out here.\n`])].join('')
}

function changeBlock(type: string, change: unknown): string {
  const text = textOf(change, 'resourceId') ?? ''
  const last = parseResourceId(text)?.segments.at(-1)
  const kind = last === undefined ? '' : `${code([last.namespace, ...last.types].join('/'))} `
  const named = last === undefined ? text : last.names.join('/')
  const reason = textOf(change, 'unsupportedReason')
  const delta = isJsonObject(change) && Array.isArray(change['delta']) ? change['delta'] : []
  const rows = delta.flatMap((one) => propertyRows(one, ''))
  return [
    `\n#### ${type}: ${kind}${code(named)}\n`,
    ...(reason === undefined ? [] : [`\n${code(reason)}\n`]),
    ...(rows.length === 0
      ? []
      : ['\n| Property | Before | After |\n| --- | --- | --- |\n', ...rows]),
  ].join('')
}

function propertyRows(change: unknown, above: string): readonly string[] {
  if (!isJsonObject(change)) return []
  const path = [above, textOf(change, 'path') ?? ''].filter((one) => one !== '').join('.')
  const { children } = change
  if (Array.isArray(children)) return children.flatMap((child) => propertyRows(child, path))
  const value = (name: string): string => (name in change ? shown(change[name]) : '')
  return [`| ${code(path)} | ${value('before')} | ${value('after')} |\n`]
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  return code(text.length > valueCharactersMax ? `${text.slice(0, valueCharactersMax)}…` : text)
}
