/** `template expand`: prints the resources of expanded templates, without a server. */

import { type Command, defineCommand } from '../../command.ts'
import { exitFailed } from '../../failure.ts'
import { printable } from '../../output/table.ts'
import { sampleOptions } from '../../sample-place.ts'
import { expandFiles } from '../../template-files.ts'
import { parametersOption } from '../../template-parameters.ts'

export const command: Command = defineCommand({
  name: 'template expand',
  summary: 'Expand template files to their resources, without a server',
  notes:
    () => `Without \`--parameters\`, each file takes those of \`<name>.parameters.json\` beside it. The scope is the
one that the template's \`$schema\` names; the place is made up. What only a running resource can tell is listed as what
is waited for, and a secret of a vault is written as its name. With \`--json\` each file is one line: \`{file, resources, problems}\`. The exit code is 1 when one of the
files cannot be expanded.`,
  arguments: [{ name: 'files', summary: 'Template files', multiple: true }],
  options: { ...parametersOption, ...sampleOptions },
  examples: [
    'template expand main.json',
    'template expand main.json --parameters @main.parameters.json -p name=web --json',
    'template expand templates/*.json --scope subscription --json',
  ],
  async run(context, values) {
    const { terminal } = context
    let isFailed = false
    for await (const made of expandFiles(context, values.files, values)) {
      const { file, resources, problems } = made
      isFailed ||= problems.length > 0
      if (context.terminal.output.isData) {
        terminal.out(terminal.output.renderOne({ file, resources, problems }))
        continue
      }
      for (const { id, apiVersion, existing, waitsFor = [] } of resources) {
        const late = waitsFor.length === 0 ? '' : ` (waits for ${waitsFor.join(', ')})`
        const word = existing === true ? ' (exists)' : late
        terminal.out(`${printable(`${file}: ${id} ${apiVersion}${word}`)}\n`)
      }
      for (const { line, column, path, message } of problems) {
        terminal.error(`${printable(`${file}:${line}:${column}: ${path}: ${message}`)}\n`)
      }
    }
    return isFailed ? exitFailed : 0
  },
})
