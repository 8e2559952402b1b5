/**
 * The thread that reads large documents, and those in YAML. It answers in JSON: what comes as objects takes more memory than what
 * is parsed, where members are named by numbers.
 */

import { answerTasks } from '#threads/answer-tasks.ts'
import { readOpenApi } from './import.ts'

answerTasks((text: string) => JSON.stringify(readOpenApi(text)))
