/**
 * `npm run bench`: runs every scenario of `scenarios/` and prints one table for each. Writes the results as
 * data; judges nothing.
 */

import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { measureDecisions } from './decisions/measure.ts'
import { describeMachine } from './harness/machine.ts'
import { measureFigures } from './harness/measure-figures.ts'
import { type Measuring, measureLoad } from './harness/measure-load.ts'
import { measureStart } from './harness/measure-start.ts'
import { findProcessors } from './harness/processors.ts'
import { report } from './harness/report.ts'
import type { Machine, Results, ScenarioResults } from './harness/results.ts'
import { type Options, readOptions, usage } from './options.ts'
import type { Contestant, Scenario } from './scenario.ts'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
/** Inside the tree: the system's folder for temporary files may be in memory. */
const dataFolder = here('.data')

async function main(options: Options): Promise<void> {
  await rm(dataFolder, { recursive: true, force: true })
  await mkdir(dataFolder, { recursive: true })
  const processors = findProcessors()
  const machine = describeMachine(processors.pinned, dataFolder)
  const measuring: Measuring = {
    dataFolder,
    processors,
    seconds: options.seconds,
    rounds: options.rounds,
    progress: (text) => void process.stderr.write(`${text}\n`),
  }
  const scenarios: ScenarioResults[] = []
  const failed: string[] = []
  const at = new Date().toISOString()
  const { seconds, rounds } = options
  const soFar = (): Results => ({ at, machine, options: { seconds, rounds }, scenarios, failed })
  for (const [name, scenario] of await findScenarios(options)) {
    // A scenario that cannot run must not lose what the others measured.
    try {
      scenarios.push(await measure(name, scenario, measuring))
    } catch (error) {
      failed.push(name)
      process.stderr.write(`${name} failed: ${error instanceof Error ? error.stack : error}\n`)
    }
    // Nor must whoever ends the run.
    if (!options.dry) await write(soFar())
  }
  process.stdout.write(`${report(soFar())}\n`)
  if (failed.length > 0) process.exitCode = 1
  await rm(dataFolder, { recursive: true, force: true })
}

function measure(name: string, scenario: Scenario, measuring: Measuring): Promise<ScenarioResults> {
  switch (scenario.kind) {
    case 'load':
      return measureLoad(name, scenario, measuring)
    case 'start':
      return measureStart(name, scenario, measuring)
    case 'decide':
      return measureDecisions(name, scenario, measuring.progress)
    case 'figures':
      return measureFigures(name, scenario, measuring)
    default:
      return scenario satisfies never
  }
}

/** Sorted by file name. */
async function findScenarios(options: Options): Promise<readonly (readonly [string, Scenario])[]> {
  const files = (await readdir(here('scenarios'))).filter((file) => file.endsWith('.ts')).sort()
  const found: (readonly [string, Scenario])[] = []
  for (const file of files) {
    const name = file.slice(0, -'.ts'.length)
    if (options.only.length > 0 && !options.only.includes(name)) continue
    // Every file in that folder exports a scenario under this name; see `scenario.ts`.
    const { scenario } = (await import(`./scenarios/${file}`)) as { scenario: Scenario }
    found.push([name, chosen(scenario, options)])
  }
  if (found.length === 0) {
    throw new Error(`There is no such scenario; there are: ${files.join(', ')}`)
  }
  return found
}

function chosen(scenario: Scenario, { contestants }: Options): Scenario {
  if (contestants.length === 0 || !('contestants' in scenario)) return scenario
  const wanted = ({ name }: Contestant): boolean =>
    (scenario.kind === 'load' && name === scenario.floor) ||
    contestants.some((part) => name.toLowerCase().includes(part))
  return { ...scenario, contestants: scenario.contestants.filter(wanted) }
}

async function write(results: Results): Promise<void> {
  const name = here(`results/${results.at.slice(0, 10)}-${machineName(results.machine)}`)
  await mkdir(here('results'), { recursive: true })
  await writeFile(`${name}.json`, `${JSON.stringify(results, undefined, 2)}\n`)
  await writeFile(`${name}.md`, `${report(results)}\n`)
  process.stderr.write(`Written: bench/results/${basename(name)}.json and .md\n`)
}

/** The kind of machine, never its name. */
function machineName({ processor, processors }: Machine): string {
  const kind = processor
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return `${kind}-${processors}`
}

const options = readOptions(process.argv.slice(2))
if (options.help) process.stdout.write(usage)
else await main(options)
