/** The form of output: `--output`, `--json` and `--query`, which every command has. It is decided only here. */

import { parseExactJson } from '#kernel/exact-json.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { type OptionSpec, UsageError } from '../command.ts'
import { escaped, formatPairs, formatTable, printable, unseen } from './table.ts'

export const outputFormats = ['table', 'json', 'yaml', 'tsv'] as const

export const outputOptions = {
  output: {
    type: 'string',
    short: 'o',
    value: 'format',
    choices: outputFormats,
    summary: 'The form of the answer',
  },
  json: { type: 'boolean', summary: 'The same as `--output json`' },
  query: {
    type: 'string',
    value: 'expression',
    summary: 'Only what this JMESPath expression picks from the answer',
  },
} as const satisfies Record<string, OptionSpec>

export interface Output {
  readonly format: (typeof outputFormats)[number]
  /** A program reads the output: the whole answer, and no other text. */
  readonly isData: boolean
  /** The user chose a form, so an answer of the server is not passed on unchanged. */
  readonly isChosen: boolean
  /** A value as text with a final line break; empty when the expression picks nothing from a table. */
  render(value: unknown): string
  /** One of many values: JSON on one line, or a document of YAML. */
  renderOne(value: unknown): string
}

export const plainOutput: Output = {
  format: 'table',
  isData: false,
  isChosen: false,
  render: (value) => jsonText(value, 2),
  renderOne: (value) => jsonText(value),
}

interface OutputWish {
  readonly output?: string | undefined
  readonly json: boolean
  readonly query?: string | undefined
}

/** Throws `UsageError`. The libraries are loaded on demand. */
export async function chooseOutput(wish: OutputWish): Promise<Output> {
  const { output, json, query } = wish
  if (json && output !== undefined && output !== 'json') {
    throw new UsageError(`\`--json\` and \`--output ${output}\` contradict each other`)
  }
  if (!json && output === undefined && query === undefined) return plainOutput
  const format = json ? 'json' : (outputFormats.find((one) => one === output) ?? 'table')
  const pick = query === undefined ? (value: unknown) => value : await readQuery(query)
  const yaml = format === 'yaml' ? (await import('yaml')).stringify : undefined
  const render = (value: unknown): string => {
    const picked = pick(value) ?? null
    if (yaml !== undefined) {
      // YAML refuses what JSON leaves out.
      const text = yaml(plainJson(picked))
      // JSON is valid YAML, and can express any character.
      return text.search(unseen) < 0 ? text : jsonText(picked, 2)
    }
    if (format === 'json' || (output === undefined && query === undefined))
      return jsonText(picked, 2)
    return format === 'tsv' ? tabText(picked) : tableText(picked)
  }
  return {
    format,
    isData: format === 'json' || format === 'yaml' || query !== undefined,
    isChosen: true,
    render,
    renderOne(value) {
      if (yaml !== undefined) return `---\n${render(value)}`
      return format === 'json' ? jsonText(pick(value) ?? null) : render(value)
    },
  }
}

/** Without undefined members. */
function plainJson(value: unknown): never {
  // The library's type of JSON has no name that it exports.
  return parseExactJson(JSON.stringify(value ?? null)) as never
}

async function readQuery(expression: string): Promise<(value: unknown) => unknown> {
  const { compile, TreeInterpreter } = await import('@jmespath-community/jmespath')
  const refused = (error: unknown): UsageError =>
    new UsageError(`\`--query ${expression}\`: ${error instanceof Error ? error.message : error}`)
  try {
    const tree = compile(expression)
    return (value) => {
      try {
        return TreeInterpreter.search(tree, plainJson(value))
      } catch (error) {
        // A function of the expression got a value it does not accept.
        throw refused(error)
      }
    }
  } catch (error) {
    // The parser reports bad text only by throwing.
    throw refused(error)
  }
}

/** JSON leaves some control characters unescaped, and some terminals obey them. Escaped, they mean the same. */
function jsonText(value: unknown, indent?: number): string {
  return `${JSON.stringify(value, undefined, indent).replace(unseen, escaped)}\n`
}

function cellText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return printable(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/** The cells of a row: a list's items, an object's members, or the value itself. */
function cellsOf(row: unknown): string[] {
  if (Array.isArray(row)) return row.map(cellText)
  return isJsonObject(row) ? Object.values(row).map(cellText) : [cellText(row)]
}

function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}

function tabText(value: unknown): string {
  const rows = Array.isArray(value) ? value : [value]
  return linesText(rows.map((row) => cellsOf(row).join('\t')))
}

function tableText(value: unknown): string {
  if (isJsonObject(value)) return `${recordText(value)}\n`
  if (!Array.isArray(value)) return linesText(value === null ? [] : [cellText(value)])
  const objects = value.filter(isJsonObject)
  if (objects.length === 0) return linesText(value.map((row) => cellsOf(row).join('  ')))
  const names = [...new Set(objects.flatMap((row) => Object.keys(row)))]
  const columns = names.map((name) => ({
    title: name.toUpperCase(),
    of: (row: Readonly<Record<string, unknown>>) => cellText(row[name]),
  }))
  return linesText(formatTable(columns, objects))
}

/** The members that have a value, one per line; those of an object below it by their path. */
export function recordText(record: Readonly<Record<string, unknown>>): string {
  return formatPairs(pairsOf(record, '', 0))
}

/** What is nested deeper is one cell. */
const pathWordsMax = 4

function pairsOf(record: object, above: string, depth: number): (readonly [string, string])[] {
  return Object.entries(record).flatMap(([name, value]: readonly [string, unknown]) => {
    if (value === undefined || value === null) return []
    const path = `${above}${printable(name)}`
    return isJsonObject(value) && depth < pathWordsMax
      ? pairsOf(value, `${path}.`, depth + 1)
      : [[path, cellText(value)] as const]
  })
}

/** One line of cells, separated by tabs. */
export function tabLine(record: Readonly<Record<string, unknown>>): string {
  return cellsOf(record).join('\t')
}
