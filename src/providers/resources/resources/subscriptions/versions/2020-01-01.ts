/** Subscriptions on the wire, version 2020-01-01: the shape of 2019-11-01. */

import type { Version } from '#plane/declare/wire.ts'
import type { Subscription } from '../model.ts'
import { v2019_11_01 } from './2019-11-01.ts'

export const v2020_01_01: Version<Subscription> = { ...v2019_11_01, date: '2020-01-01' }
