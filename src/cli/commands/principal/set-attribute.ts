/** `principal set-attribute`: sets an attribute of a principal, which conditions can read. */

import { type Command, defineCommand, UsageError } from '../../command.ts'
import { findPrincipal } from '../../directory.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'principal set-attribute',
  summary: 'Set or remove a custom attribute that conditions can ask for',
  notes:
    () => `A condition reads it as @Principal[{vendor}.Directory/CustomSecurityAttributes/Id:{name}].
Values that look like whole numbers, true or false are stored as such, unless --text is given.
It counts from the next request on.`,
  arguments: [
    { name: 'id', summary: 'The principal’s object id' },
    { name: 'name', summary: 'Set and attribute, like Staff_Level' },
  ],
  options: {
    value: {
      type: 'string',
      value: 'text',
      summary: 'Its value; several for a set',
      multiple: true,
    },
    text: { type: 'boolean', summary: 'Store the values as text, whatever they look like' },
    remove: { type: 'boolean', summary: 'Take the attribute away' },
    ...connectionOptions,
  },
  examples: [
    'principal set-attribute 1b4e28ba-2fa1-41d2-883f-0016d3cca427 Staff_Level --value 4',
    'principal set-attribute 1b4e28ba-2fa1-41d2-883f-0016d3cca427 Staff_Level --remove',
  ],
  async run(context, values) {
    const given = values.value ?? []
    if (values.remove === given.length > 0) {
      throw new UsageError('give either --value, once or more, or --remove')
    }
    const { client } = context.connect(values)
    const { path } = await findPrincipal(client, values.id)
    const list = given.map((one) => (values.text ? one : scalarOf(one)))
    const value = values.remove ? null : list.length === 1 ? list[0] : list
    const { body } = await client.request('PATCH', path, {
      body: { attributes: { [values.name]: value } },
    })
    printRecord(context.terminal, body)
    return 0
  },
})

function scalarOf(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text
}
