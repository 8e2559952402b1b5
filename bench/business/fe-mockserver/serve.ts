/** The Fiori elements mock server with the same two entities, in memory, loaded from the files of a folder. */

import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import mockServer from '@sap-ux/fe-mockserver-core'

const server = new mockServer.default({
  services: [
    {
      urlPath: '/odata/v4/bench',
      metadataPath: fileURLToPath(new URL('metadata.xml', import.meta.url)),
      mockdataPath: String(process.env['MOCK_DATA']),
      generateMockData: false,
      watch: false,
    },
  ],
})
await server.isReady
const router = server.getRouter()
createServer((request, response) => {
  router(request, response, (error: unknown) => {
    response.statusCode = error === undefined ? 404 : 500
    response.end(String(error ?? 'Nothing is here.'))
  })
}).listen(Number(process.env['PORT']), '127.0.0.1')
