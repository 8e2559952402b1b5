/** Prints the outcome of a deployment: its state, its outputs, and what failed. */

import { textOf } from '#client/answer.ts'
import { propertiesOf } from '#client/resource.ts'
import { isJsonObject } from '#kernel/patch.ts'
import type { Watched } from './deployment-progress.ts'
import { stepColumns } from './deployment-progress.ts'
import { exitFailed } from './failure.ts'
import { printData, printRecord, printRows, red } from './output/print.ts'
import { printable } from './output/table.ts'
import type { Terminal } from './terminal.ts'

/** Returns the exit code, which says whether it succeeded. */
export function printOutcome(terminal: Terminal, watched: Watched): number {
  const { deployment, state, steps } = watched
  if (!terminal.output.isData && steps.length > 0) printRows(terminal, steps, stepColumns)
  printDeployment(terminal, deployment)
  if (state === 'Succeeded') return 0
  const error = propertiesOf(deployment)['error']
  const code = textOf(error, 'code') ?? state
  const message = textOf(error, 'message') ?? `the deployment ended as ${state}`
  terminal.error(`${red(terminal, printable(code))}: ${printable(message)}\n`)
  return exitFailed
}

/** The summary: name, state, duration, and outputs. */
export function printDeployment(terminal: Terminal, deployment: unknown): void {
  if (terminal.output.isData) {
    printData(terminal, deployment)
    return
  }
  const properties = propertiesOf(deployment)
  const outputs = properties['outputs']
  const shown = Object.entries(isJsonObject(outputs) ? outputs : {}).map(([name, output]) => [
    `output ${name}`,
    isJsonObject(output) && 'value' in output ? output['value'] : '(secure)',
  ])
  printRecord(terminal, {
    name: textOf(deployment, 'name'),
    provisioningState: textOf(properties, 'provisioningState'),
    mode: textOf(properties, 'mode'),
    duration: textOf(properties, 'duration'),
    ...Object.fromEntries(shown),
  })
}
