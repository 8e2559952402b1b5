/** Turns an error of a command into lines on standard error and an exit code. */

import { ClientError, ConnectionFailure, UntrustedLink } from '#client/client-error.ts'
import { OperationDeadline } from '#client/wait-for-operation.ts'
import { ConfigError } from '../config.ts'
import { LocalProblem, UsageError } from './command.ts'
import { red } from './output/print.ts'
import { printable } from './output/table.ts'
import type { Terminal } from './terminal.ts'

export const exitFailed = 1
const exitUsage = 2

/** `usage` is the line printed below a usage error. */
export function reportFailure(terminal: Terminal, error: unknown, usage: string): number {
  if (error instanceof UsageError) {
    terminal.error(`${red(terminal, error.message)}\n${usage}\n`)
    return exitUsage
  }
  if (error instanceof ClientError) {
    terminal.error(`${describeClientError(terminal, error).join('\n')}\n`)
    return exitFailed
  }
  if (error instanceof ConfigError) {
    terminal.error(`${red(terminal, 'SettingsWrong')}: ${error.message}\n`)
    return exitFailed
  }
  const code = codeOf(error)
  // An unknown error is a bug: the developer needs the stack.
  if (code === undefined) throw error
  const message = error instanceof Error ? error.message : String(error)
  terminal.error(`${red(terminal, code)}: ${printable(message)}\n`)
  return exitFailed
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof LocalProblem) return error.code
  if (error instanceof ConnectionFailure) return 'NoAnswer'
  if (error instanceof UntrustedLink) return 'UntrustedLink'
  return error instanceof OperationDeadline ? 'StillRunning' : undefined
}

/** Without the setting, the paths of control are like any that are not known, which lack an api-version. */
function isControlOff({ code, answer }: ClientError): boolean {
  return (
    code === 'MissingApiVersionParameter' && new URL(answer.url).pathname.includes('/_armature/')
  )
}

function describeClientError(terminal: Terminal, error: ClientError): string[] {
  if (isControlOff(error)) {
    const how = 'start the server with ARMATURE_CONTROL=local to change its state, time and faults'
    return [`${red(terminal, 'ControlOff')}: ${how}`]
  }
  const lines = [`${red(terminal, printable(error.code))}: ${printable(error.message)}`]
  if (error.target !== undefined) lines.push(`  target: ${printable(error.target)}`)
  for (const detail of error.details) {
    const where = detail.target === undefined ? '' : `${detail.target}: `
    lines.push(`  - ${printable(`${where}${detail.message || detail.code}`)}`)
  }
  if (error.correlationId !== undefined) {
    lines.push(`  correlation id: ${printable(error.correlationId)}`)
  }
  return lines
}
