/** A thread whose code takes longer to load than its tasks may take. */

import { setTimeout as sleep } from 'node:timers/promises'
import { answerTasks } from '../answer-tasks.ts'

await sleep(1500)
answerTasks((milliseconds: number) => sleep(milliseconds, 'done'))
