/** A thread whose tasks end when the test says so on a channel, except those that are quick. */

import { answerTasks } from '../answer-tasks.ts'

const channel = new BroadcastChannel('counting-thread')
let count = 0

answerTasks(async (task: 'wait' | 'wait longer' | 'quick') => {
  count++
  channel.postMessage(task)
  if (task !== 'quick') {
    await new Promise<void>((resolve) => {
      channel.onmessage = ({ data }) => data === 'end' && resolve()
    })
  }
  return count
})
