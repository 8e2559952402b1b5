/** Wrong calls and names are reported when the template is read, even where nothing would be evaluated. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemsOf, template } from './testing/context.ts'

test('functions, their numbers of arguments and names, in branches and variables that nothing asks for', () => {
  const problems = problemsOf(
    template({
      variables: {
        branch: "[if(true(), 1, nothing('x'))]",
        few: "[if(true(), 1, substring('x'))]",
        many: '[subscription(1, 2)]',
        inside: "[map(createArray(1), lambda('x', parameters('gone').y[variables('GONE')]))]",
        fine: "[if(true(), 1, fail('x'))]",
        other: '[my.own()]',
      },
    }),
  )
  assert.deepEqual(problems, [
    "variables.branch: there is no function 'nothing'",
    'variables.few: substring() takes 2 to 3 arguments, not 1',
    'variables.many: subscription() takes no arguments, not 2',
    "variables.inside: the parameter 'gone' is not declared",
    "variables.inside: the variable 'GONE' is not declared",
    "variables.other: the function 'my.own' is not declared",
  ])
})
