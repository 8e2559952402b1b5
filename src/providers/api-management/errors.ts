/** What this namespace refuses (facts 3.2): bodies come back with one entry per field under one code. */

import { type ApiError, defineErrors, type Problem } from '#kernel/error.ts'

export const apiManagementErrors = defineErrors({
  ValidationError: {
    status: 400,
    message: 'One or more fields contain incorrect values: {reason}',
    advice: 'User: each entry of `details` names a field and what was expected of it.',
  },
})

const shownMax = 3

/** All problems of a body as this namespace says them. */
export function refuseFields(problems: readonly Problem[]): ApiError {
  const shown = problems.slice(0, shownMax).map(({ path, message }) => `${path}: ${message}`)
  const reason = `${shown.join('; ')}${problems.length > shownMax ? '; …' : ''}`
  const target = problems[0]?.path
  return apiManagementErrors.refuse.ValidationError(
    { reason },
    {
      ...(target === undefined ? {} : { target }),
      details: problems.map(({ path, message, code }) => ({
        code: code ?? 'ValidationError',
        message,
        target: path,
      })),
    },
  )
}
