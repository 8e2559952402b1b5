/** `template lint`: prints problems and warnings of templates, without a server. */

import { lintTemplate } from '#template/lint.ts'
import { type Command, defineCommand } from '../../command.ts'
import { exitFailed } from '../../failure.ts'
import { printable } from '../../output/table.ts'
import { sampleOptions } from '../../sample-place.ts'
import { expandFiles } from '../../template-files.ts'
import { parametersOption } from '../../template-parameters.ts'

/** A template without its arguments has only this kind of problem. */
const notGiven = /^the parameter '.*' is required, and has no default value$/

export const command: Command = defineCommand({
  name: 'template lint',
  summary: 'Name the problems of template files, without a server',
  notes:
    () => `Errors are what no deployment could take; warnings are parameters and variables that nobody uses, and
defaults of secure parameters. Parameters need not be given: what follows from their lack is no error. With \`--json\`
each file is one line: \`{file, problems}\`. The exit code is 1 when there is an error.`,
  arguments: [{ name: 'files', summary: 'Template files', multiple: true }],
  options: { ...parametersOption, ...sampleOptions },
  examples: ['template lint main.json', 'template lint templates/*.json --json'],
  async run(context, values) {
    const { terminal } = context
    let isFailed = false
    for await (const { file, text, problems: found } of expandFiles(
      context,
      values.files,
      values,
    )) {
      const errors = found.filter(({ message }) => !notGiven.test(message))
      isFailed ||= errors.length > 0
      const problems = [
        ...errors.map((one) => ({ severity: 'error', ...one })),
        ...lintTemplate(text).map((one) => ({ severity: 'warning', ...one })),
      ].sort((a, b) => a.line - b.line || a.column - b.column)
      if (context.terminal.output.isData)
        terminal.out(terminal.output.renderOne({ file, problems }))
      else {
        for (const { severity, line, column, path, message } of problems) {
          const where = `${file}:${line}:${column}`
          terminal.out(`${printable(`${where}: ${severity}: ${path}: ${message}`)}\n`)
        }
      }
    }
    return isFailed ? exitFailed : 0
  },
})
