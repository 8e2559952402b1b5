/** Loads optional packages, which an installation may lack. */

import { CopyFailure } from './engine.ts'

/** When the package is missing, throws `CopyFailure` with the command that installs it. */
export async function loadOptional<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    const missing =
      error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
    if (!missing) throw error
    throw new CopyFailure(
      'Unsupported',
      `the package ${name} is not installed beside the server; run \`npm install ${name}\` there`,
    )
  }
}
