/** The results as Markdown, aligned so that they read well in a terminal, too. */

import type {
  DecideResults,
  FigureResults,
  LoadResults,
  Results,
  ScenarioResults,
  StartResults,
} from './results.ts'

const unknown = '–'

export function report(results: Results): string {
  const { machine, options } = results
  const flush = machine.flushMilliseconds.toFixed(2)
  return [
    `${machine.processor}, ${machine.processors} processors, ${Math.round(machine.memoryBytes / 2 ** 30)} GB; ` +
      `${machine.system}; Node ${machine.node.slice(1)}; ` +
      `${machine.pinned ? 'server and load on a processor each' : 'server and load share the processors'}; ` +
      `a write of 4 KB with its flush takes ${flush} ms here. ` +
      `Medians of ${options.rounds} rounds of ${options.seconds} s, taken in turns.`,
    ...results.scenarios.map(section),
    ...results.failed.map((name) => `The scenario '${name}' failed and is not in these tables.`),
  ].join('\n\n')
}

function section(results: ScenarioResults): string {
  return [
    `**${results.title}.** ${results.about}${results.kind === 'load' ? ` Ratios are to ${results.floor}.` : ''}`,
    tableOf(results),
    ...(results.kind === 'figures' ? results.skipped.map((one) => `Not measured: ${one}`) : []),
    results.notes.map(({ contestant, note }) => `- ${contestant}: ${note}.`).join('\n'),
  ].join('\n\n')
}

function tableOf(results: ScenarioResults): string {
  switch (results.kind) {
    case 'load':
      return loadTable(results)
    case 'start':
      return startTable(results)
    case 'decide':
      return decideTable(results)
    case 'figures':
      return figureTable(results)
    default:
      return results satisfies never
  }
}

function decideTable({ rows }: DecideResults): string {
  const header = [
    'decider',
    'assignments',
    'decisions/s',
    'p50 µs',
    'p99 µs',
    'ready ms',
    'heap B/assignment',
    'asked',
    'allowed',
  ]
  const cells = rows.map((row) => [
    row.contestant,
    grouped(row.assignments),
    grouped(row.decisionsPerSecond),
    fixed(row.p50Microseconds, 1),
    fixed(row.p99Microseconds, 1),
    fixed(row.readyMilliseconds, 0),
    grouped(row.bytesPerAssignment),
    grouped(row.asked),
    `${Math.round(row.allowedShare * 100)} %`,
  ])
  return table(header, cells, 1)
}

function loadTable({ rows }: LoadResults): string {
  const header = [
    'case',
    'server',
    'req/s',
    '±',
    'ratio',
    'CPU µs/req',
    'CPU ratio',
    'p50 ms',
    'p99 ms',
    'RSS MB',
  ]
  const cells = rows.map((row) => [
    row.case,
    row.contestant,
    // A generator near its own limit would have measured itself.
    grouped(row.requestsPerSecond) +
      ((row.generatorCpuShare ?? 0) > 0.9 ? ' (load at its limit)' : ''),
    row.spread === undefined ? unknown : `${Math.round(row.spread * 100)} %`,
    fixed(row.ratioToFloor, 2),
    fixed(row.cpuMicrosecondsPerRequest, 1),
    fixed(row.cpuRatioToFloor, 2),
    fixed(thousandths(row.p50Microseconds), 2),
    fixed(thousandths(row.p99Microseconds), 2),
    megabytes(row.residentBytes),
  ])
  return table(header, cells, 2)
}

function startTable({ rows }: StartResults): string {
  const header = ['server', 'first answer ms', 'fastest', 'slowest', 'idle RSS MB']
  const cells = rows.map((row) => [
    row.contestant,
    fixed(row.medianMilliseconds, 0),
    fixed(Math.min(...row.firstAnswerMilliseconds), 0),
    fixed(Math.max(...row.firstAnswerMilliseconds), 0),
    megabytes(row.idleBytes),
  ])
  return table(header, cells, 1)
}

function figureTable({ rows }: FigureResults): string {
  const header = ['figure', 'server', 'median', '±', 'least', 'most', 'times', 'ratio']
  const cells = rows.map(({ figure, contestant, median, values, digits, ...row }) => [
    figure,
    contestant,
    fixed(median, digits),
    row.spread === undefined ? unknown : `${Math.round(row.spread * 100)} %`,
    fixed(Math.min(...values), digits),
    fixed(Math.max(...values), digits),
    String(values.length),
    fixed(row.ratio, 2),
  ])
  return table(header, cells, 2)
}

/** Columns from `firstNumber` on are aligned to the right. */
function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  firstNumber: number,
): string {
  const widths = header.map((title, column) =>
    Math.max(2, title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]): string =>
    `| ${cells
      .map((cell, column) =>
        column < firstNumber
          ? cell.padEnd(widths[column] ?? 0)
          : cell.padStart(widths[column] ?? 0),
      )
      .join(' | ')} |`
  const rule = widths.map((width, column) =>
    column < firstNumber ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  )
  return [line(header), line(rule), ...rows.map(line)].join('\n')
}

function fixed(value: number | undefined, digits: number): string {
  return value === undefined || !Number.isFinite(value) ? unknown : value.toFixed(digits)
}

function grouped(value: number | undefined): string {
  return value === undefined ? unknown : Math.round(value).toLocaleString('en')
}

function thousandths(value: number | undefined): number | undefined {
  return value === undefined ? undefined : value / 1000
}

function megabytes(bytes: number | undefined): string {
  return bytes === undefined ? unknown : Math.round(bytes / 2 ** 20).toString()
}
