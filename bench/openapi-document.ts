/** The OpenAPI document for the two peers that work from one. */

import { apiVersion, resourceBody, resourceName, storedGroup } from './payload.ts'

export function openApiDocument(): object {
  const sent = {
    type: 'object',
    required: ['location'],
    properties: {
      location: { type: 'string', maxLength: 90 },
      tags: {
        type: 'object',
        maxProperties: 50,
        additionalProperties: { type: 'string', maxLength: 256 },
      },
    },
  }
  const shown = {
    type: 'object',
    required: ['id', 'name', 'type', 'location', 'properties'],
    properties: {
      ...sent.properties,
      id: { type: 'string' },
      name: { type: 'string' },
      type: { type: 'string' },
      properties: { type: 'object', properties: { provisioningState: { type: 'string' } } },
    },
  }
  const example = storedGroup(resourceName(0), JSON.parse(resourceBody('local')))
  const parameters = [
    { name: 'subscriptionId', in: 'path', required: true, schema: { type: 'string' } },
    { name: 'name', in: 'path', required: true, schema: { type: 'string', maxLength: 90 } },
    {
      name: 'api-version',
      in: 'query',
      required: true,
      schema: { type: 'string', enum: [apiVersion] },
    },
  ]
  const responses = {
    200: {
      description: 'The resource group.',
      content: { 'application/json': { schema: shown, example } },
    },
  }
  return {
    openapi: '3.0.3',
    info: { title: 'Resource groups', version: apiVersion },
    paths: {
      '/subscriptions/{subscriptionId}/resourceGroups/{name}': {
        parameters,
        get: { operationId: 'getGroup', responses },
        put: {
          operationId: 'putGroup',
          requestBody: { required: true, content: { 'application/json': { schema: sent } } },
          responses,
        },
      },
    },
  }
}
