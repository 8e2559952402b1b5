/** Access to one resource. */

import type { TabProps } from '../resource/resource.tsx'
import { AccessPanel } from './access-panel.tsx'

export function AccessTab({ id }: TabProps) {
  return <AccessPanel scope={id} />
}
