/** The deployment template language as its users see it: read a template, read its arguments, expand both to a plan. */
import { isReadTemplate } from './document.ts'
import { expandTemplate } from './expand.ts'
import { parseParameters } from './read-arguments.ts'
import { parseTemplate } from './read-template.ts'
import type { TemplateLanguage } from './template.ts'

export const templateLanguage: TemplateLanguage = {
  parseTemplate,
  parseParameters,
  expand(template, parameters, context) {
    if (isReadTemplate(template)) return expandTemplate(template, parameters, context)
    // It was read by something else: read once more from what it was given.
    const read = parseTemplate(template.source)
    return read.ok ? expandTemplate(read.value, parameters, context) : read
  },
}
