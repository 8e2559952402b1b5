/** Reads the body of a deployment as leniently as known clients need, and refuses what cannot be followed. */

import { isJsonObject } from '#kernel/patch.ts'
import type { JsonObject } from '#template/plan.ts'
import { refuseDeployment, refuseTemplate } from './errors.ts'
import type { DeploymentMode, DeploymentRequest } from './model.ts'

export function readRequest(body: unknown, isGroup: boolean): DeploymentRequest {
  const outer = isJsonObject(body) ? body : {}
  const properties = isJsonObject(outer['properties']) ? outer['properties'] : {}
  for (const link of [properties['templateLink'], properties['parametersLink']]) {
    if (!isJsonObject(link)) continue
    const uri = String(link['uri'] ?? link['id'] ?? link['relativePath'] ?? '').slice(0, 200)
    throw refuseDeployment.InvalidContentLink({ uri })
  }
  const { location } = outer
  const mode = modeOf(properties['mode'])
  if (mode === 'Complete' && !isGroup) throw refuseDeployment.InvalidDeploymentMode()
  return {
    mode,
    template: parsed(properties['template'], 'template'),
    parameters: parsed(properties['parameters'] ?? {}, 'parameters'),
    ...(typeof location === 'string' && location !== '' ? { location } : {}),
  }
}

function modeOf(given: unknown): DeploymentMode {
  return typeof given === 'string' && given.toLowerCase() === 'complete'
    ? 'Complete'
    : 'Incremental'
}

function parsed(given: unknown, path: string): JsonObject {
  // It came out of a JSON parser.
  if (isJsonObject(given)) return given as JsonObject
  const message = 'expected an object'
  throw refuseTemplate([{ line: 0, column: 0, path: `properties.${path}`, message }])
}
