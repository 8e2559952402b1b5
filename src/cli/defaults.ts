/** The options that may have a user's default, stored in the home by `config set`. */

import { didYouMean } from '../config/nearest-name.ts'
import { UsageError } from './command.ts'
import { outputFormats } from './output/choose-output.ts'

export const defaultNames = ['output', 'resource-group', 'subscription', 'location'] as const

/** The full name, if the option exists and accepts this value. Throws `UsageError`. */
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
