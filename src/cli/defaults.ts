/** Which options may have a default of the user's, kept in the home: `config set`. */

import { didYouMean } from '../config/nearest-name.ts'
import { UsageError } from './command.ts'
import { outputFormats } from './output/choose-output.ts'

export const defaultNames = ['output', 'resource-group', 'subscription', 'location'] as const

/** The name, if it is one and may have this value. Throws `UsageError`. */
export function readDefault(name: string, value?: string): string {
  if (!defaultNames.some((one) => one === name)) {
    throw new UsageError(
      `\`${name}\` is none of ${defaultNames.join(', ')}${didYouMean(name, defaultNames)}`,
    )
  }
  if (name === 'output' && value !== undefined && !outputFormats.some((one) => one === value)) {
    throw new UsageError(`\`output\` is one of ${outputFormats.join(', ')}, not \`${value}\``)
  }
  if (value === '')
    throw new UsageError(`\`${name}\` needs a value; \`config unset\` takes one back`)
  return name
}
