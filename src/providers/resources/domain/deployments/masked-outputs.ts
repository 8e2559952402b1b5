/** What the record of a nested deployment masks, as its outer template reads it. */

import { isJsonObject } from '#kernel/patch.ts'
import type { Json, JsonObject } from '#template/plan.ts'

/** The answer with these outputs where they are shown. Undefined where none of them is. */
export function withMaskedOutputs(shown: Json, hidden: JsonObject): Json | undefined {
  const properties = isJsonObject(shown) ? shown['properties'] : undefined
  const outputs = isJsonObject(properties) ? properties['outputs'] : undefined
  if (!isJsonObject(shown) || !isJsonObject(properties) || !isJsonObject(outputs)) return undefined
  const masked = Object.entries(outputs).flatMap(([name, output]) =>
    isJsonObject(output) && Object.hasOwn(output, 'value') && Object.hasOwn(hidden, name)
      ? [[name, { ...output, value: hidden[name] }] as const]
      : [],
  )
  if (masked.length === 0) return undefined
  const whole = { ...outputs, ...Object.fromEntries(masked) }
  return { ...shown, properties: { ...properties, outputs: whole } } as Json
}
