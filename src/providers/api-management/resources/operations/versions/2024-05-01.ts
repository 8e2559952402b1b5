/**
 * The wire form of operations in 2024-05-01: like 2019-12-01, with examples and schemas of parameters (contract,
 * API operation definition).
 */

import { wrappedWith } from './2019-12-01.ts'

export const exampled = wrappedWith({ wrapped: true, sample: false, examples: true })
