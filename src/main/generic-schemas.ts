/** Reads the operator's folder of schemas at start. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ApiError } from '#kernel/error.ts'
import { checkSchema } from '#plane/check.ts'
import { readSchemas, type SchemaFile, SchemaFileError } from '#providers/generic/domain/schemas.ts'

const filesMax = 500
const bytesMax = 32 * 1024 * 1024

/** Throws `SchemaFileError`, whose message is for the operator. */
export function readSchemaFiles(folder: string | undefined): readonly SchemaFile[] {
  if (folder === undefined) return []
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
  if (names.length > filesMax) {
    throw new SchemaFileError(names[filesMax] ?? '', `there are more than ${filesMax} files`)
  }
  let bytes = 0
  const files = names.map((name) => {
    const text = readFileSync(join(folder, name), 'utf8')
    bytes += text.length
    if (bytes > bytesMax)
      throw new SchemaFileError(name, `the files have more than ${bytesMax} characters`)
    return { name, content: contentOf(name, text) }
  })
  requireUsable(files)
  return files
}

/** Throws `SchemaFileError` for a type whose schema is not valid. */
function requireUsable(files: readonly SchemaFile[]): void {
  const schemas = readSchemas(files)
  for (const { type, versions } of schemas.types.values()) {
    for (const version of versions) {
      const schema = schemas.bodyOf(type, version)
      if (schema === undefined) continue
      try {
        checkSchema(schema, 'ignore', {})
      } catch (error) {
        if (error instanceof ApiError) continue
        throw new SchemaFileError(`of ${type} ${version}`, String(error))
      }
    }
  }
}

function contentOf(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SchemaFileError(name, error instanceof Error ? error.message : String(error))
  }
}
