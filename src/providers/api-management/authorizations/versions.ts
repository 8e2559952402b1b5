/** Versions of authorizations: one shape in all of them; the contract names 2024-05-01. */

import { datesFrom } from '../versions.ts'

export const authorizationDates: readonly string[] = datesFrom('2022-04-01-preview')
