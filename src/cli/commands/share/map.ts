/** `share map`: sets where the copy of a data set goes. */

import { propertyOf } from '#client/resource.ts'
import { LocalProblem } from '../../command.ts'
import { printRecord } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { putResource } from '../../resource-commands.ts'
import {
  accountOptions,
  inAccount,
  placedProperties,
  propertyOption,
  shareVersion,
} from '../../sharing.ts'

export const command = defineRemoteCommand({
  name: 'share map',
  summary: 'Say where the copy of a data set goes',
  arguments: [{ name: 'data-set', summary: 'The name or the id of the data set' }],
  options: {
    ...accountOptions,
    to: { type: 'string', value: 'name', required: true, summary: 'The share subscription' },
    kind: { type: 'string', value: 'kind', required: true, summary: 'BlobFolder, SqlDBTable, …' },
    'output-type': {
      type: 'string',
      value: 'format',
      choices: ['Csv', 'Parquet'],
      summary: 'Of a table that becomes a file',
    },
    ...propertyOption,
  },
  examples: [
    'share map files -g to -a taker --to theirs --kind BlobFolder -p storageAccountName=takenfiles -p containerName=got -p prefix=files',
  ],
  async run(connection, values, context) {
    const { kind, to } = values
    const wanted = values['data-set']
    const subscription = await inAccount(connection, values, 'shareSubscriptions', to)
    const sources = await connection.client.list(`${subscription}/consumerSourceDataSets`, {
      query: { 'api-version': shareVersion },
    })
    const source = sources.find((one) =>
      [propertyOf(one, 'dataSetName'), propertyOf(one, 'dataSetId')].includes(wanted),
    )
    if (source === undefined) {
      throw new LocalProblem('NoDataSet', `The share has no data set '${wanted}'.`)
    }
    const properties = {
      dataSetId: propertyOf(source, 'dataSetId'),
      ...(values['output-type'] === undefined ? {} : { outputType: values['output-type'] }),
      ...(await placedProperties(connection, values, kind, values.property)),
    }
    const name = encodeURIComponent(propertyOf(source, 'dataSetName'))
    const path = `${subscription}/dataSetMappings/${name}`
    printRecord(
      context.terminal,
      await putResource(connection, path, shareVersion, { kind, properties }),
    )
  },
})
