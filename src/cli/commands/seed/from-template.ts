/** `seed from-template`: writes a seed file that deploys a template at the first start. */

import { qualify } from '#kernel/vendor.ts'
import { type Command, defineCommand } from '../../command.ts'
import { deploymentBody, deploymentVersion } from '../../deployments.ts'
import { printData } from '../../output/print.ts'
import { apiVersions } from '../../resource-path.ts'
import { parametersOption } from '../../template-parameters.ts'

export const command: Command = defineCommand({
  name: 'seed from-template',
  summary: 'Write a seed file that deploys a template at the first start',
  notes: () =>
    'The file is for `serve --seed` and for `armature-plane/testing`. It holds the values of the parameters.',
  arguments: [{ name: 'template', summary: 'The template' }],
  options: {
    'resource-group': {
      type: 'string',
      short: 'g',
      value: 'name',
      required: true,
      summary: 'The resource group it is deployed to, which is made',
    },
    location: { type: 'string', value: 'name', summary: 'Where the group is; local when left out' },
    ...parametersOption,
  },
  examples: ['seed from-template main.json -g demo -p name=orders > seed.yaml'],
  async run(context, values) {
    const { terminal } = context
    const { template, parameters, location = 'local' } = values
    const files = { 'template-file': template, parameters, mode: undefined, location: undefined }
    const body = deploymentBody(terminal, files)
    const name = encodeURIComponent(values['resource-group'])
    const group = `/subscriptions/{subscription}/resourceGroups/${name}`
    const type = `${qualify(context.config().words, 'Resources')}/deployments`
    const seed = {
      resources: [
        { path: `${group}?api-version=${apiVersions.resourceGroups}`, body: { location } },
        { path: `${group}/providers/${type}/seed?api-version=${deploymentVersion}`, body },
      ],
    }
    if (terminal.output.isChosen) printData(terminal, seed)
    else terminal.out((await import('yaml')).stringify(seed))
    return 0
  },
})
