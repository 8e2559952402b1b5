/** The template language as its users see it: parse a template, parse its arguments, expand both to a plan. */
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
    // Another copy of the library parsed it, so it is parsed again from its source.
    const read = parseTemplate(template.source)
    return read.ok ? expandTemplate(read.value, parameters, context) : read
  },
}
