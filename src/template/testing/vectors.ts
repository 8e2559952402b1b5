/** What functions of values give and refuse: published examples first, then each sentence of their meaning. */
import type { Json } from '../plan.ts'

/** An expression, its value or what its refusal says, and where it stands when not in a group's deployment. */
type Vector = readonly [
  expression: string,
  expected: Json | RegExp,
  scope?: 'subscription' | 'managementGroup' | 'tenant',
]
export type Vectors = Readonly<Record<string, readonly Vector[]>>

const one = "createArray('one', 'two', 'three')"
const nested = `createObject('a', createObject('b', createArray(10, 20)), 'c', null())`

export const arrayVectors: Vectors = {
  array: [
    ['array(1)', [1]],
    ["array('efgh')", ['efgh']],
    ["array(createObject('a', 'b'))", [{ a: 'b' }]],
    ['array(createArray(1, 2))', [1, 2]],
  ],
  concat: [
    ["concat('prefix', '-', 5)", 'prefix-5'],
    ["concat(createArray('1-1'), createArray('2-1', '2-2'))", ['1-1', '2-1', '2-2']],
    ['concat()', ''],
    ["concat('x', true())", 'xTrue'],
    ["concat('a', createArray(1))", /first argument/],
    ["concat('a', createObject())", /second argument/],
    ["concat('a', null())", /second argument/],
  ],
  contains: [
    ["contains('OneTwoThree', 'e')", true],
    ["contains('OneTwoThree', 'z')", false],
    ["contains('OneTwoThree', 'one')", false],
    ["contains(createObject('one', 'a'), 'ONE')", true],
    ["contains(createObject('one', 'a'), 'two')", false],
    [`contains(${one}, 'three')`, true],
    [`contains(${one}, 'Three')`, false],
    ['contains(createArray(1, createArray(2)), createArray(2))', true],
    ["contains(1, 'a')", /a string, an array or an object/],
    ["contains('1', 1)", /second argument/],
  ],
  createArray: [
    ["createArray(1, 'a', true(), null())", [1, 'a', true, null]],
    ['createArray()', []],
  ],
  distinct: [
    ["distinct(createArray('a', 'b', 'a', 'A'))", ['a', 'b', 'A']],
    ["distinct(createArray(createObject('a', 1), 1, createObject('a', 1)))", [{ a: 1 }, 1]],
    ["distinct('aa')", /first argument/],
  ],
  empty: [
    ["empty('')", true],
    ['empty(createArray())', true],
    ['empty(createObject())', true],
    ['empty(null())', true],
    ["empty('a')", false],
    ['empty(createArray(null()))', false],
    ["empty(createObject('a', 1))", false],
    ['empty(0)', /a string, an array or an object/],
  ],
  first: [
    [`first(${one})`, 'one'],
    ["first('One Two Three')", 'O'],
    ['first(createArray())', null],
    ["first('')", ''],
    ['first(1)', /a string or an array/],
  ],
  flatten: [
    ['flatten(json(\'[["a", "b"], [1, 2], [true, ["deep"]]]\'))', ['a', 'b', 1, 2, true, ['deep']]],
    ["flatten('a')", /an array/],
  ],
  indexFromEnd: [
    [`indexFromEnd(${one}, 1)`, 'three'],
    [`indexFromEnd(${one}, 3)`, 'one'],
    [`indexFromEnd(${one}, 0)`, /none at 0/],
    [`indexFromEnd(${one}, 4)`, /3 elements, none at 4/],
  ],
  indexOf: [
    ["indexOf('test', 't')", 0],
    ["indexOf('abcdef', 'CD')", 2],
    ["indexOf('abcdef', 'z')", -1],
    ["indexOf('İx', 'x')", 1],
    ["indexOf('ΟΔΟΣ', 'σ')", 3],
    [`indexOf(${one}, 'two')`, 1],
    [`indexOf(${one}, 'TWO')`, -1],
    ["indexOf(createArray(createObject('a', 1)), createObject('a', 1))", 0],
    ['indexOf(1, 1)', /a string or an array/],
  ],
  intersection: [
    [
      `intersection(json('{"one": "a", "two": "b", "three": "c"}'), json('{"one": "a", "two": "z", "three": "c"}'))`,
      { one: 'a', three: 'c' },
    ],
    [`intersection(${one}, createArray('three', 'two', 'none'))`, ['two', 'three']],
    ['intersection(createArray(1, 1, createArray(2)), createArray(createArray(2), 1))', [1, [2]]],
    ['intersection(createArray(1), createArray(1), createArray(2))', []],
    ["intersection(createArray(1), 'a')", /second argument/],
    ["intersection('a', 'b')", /first argument/],
  ],
  last: [
    [`last(${one})`, 'three'],
    ["last('One Two Three')", 'e'],
    ['last(createArray())', null],
    ["last('')", ''],
    ['last(null())', /a string or an array/],
  ],
  lastIndexOf: [
    ["lastIndexOf('test', 't')", 3],
    ["lastIndexOf('abcabc', 'AB')", 3],
    ["lastIndexOf('abcdef', 'z')", -1],
    ["lastIndexOf(createArray('a', 'b', 'a'), 'a')", 2],
    ["lastIndexOf('a', 1)", /second argument/],
  ],
  length: [
    [`length(${one})`, 3],
    ["length('One Two Three')", 13],
    ["length(createObject('a', 1, 'b', 2, 'c', 3, 'd', createObject('e', 1)))", 4],
    ['length(1)', /a string, an array or an object/],
  ],
  max: [
    ['max(createArray(0, 3, 2, 5, 4))', 5],
    ['max(0, 3, 2, 5, 4)', 5],
    ['max(-3)', -3],
    ['max(createArray(6, 4), 8)', 8],
    ["max(1, 'a')", /second argument/],
    ['max(createArray())', /empty array/],
  ],
  min: [
    ['min(createArray(0, 3, 2, 5, 4))', 0],
    ['min(0, 3, 2, 5, 4)', 0],
    ["min(createArray('a'))", /integers/],
  ],
  range: [
    ['range(5, 3)', [5, 6, 7]],
    ['range(-1, 2)', [-1, 0]],
    ['range(1, 0)', []],
    ['length(range(0, 10000))', 10_000],
    ['range(0, 10001)', /0 to 10000/],
    ['range(0, -1)', /0 to 10000/],
    ['last(range(2147483645, 2))', 2_147_483_646],
    ['range(2147483646, 2)', /2147483647/],
  ],
  skip: [
    [`skip(${one}, 2)`, ['three']],
    ["skip('one two three', 4)", 'two three'],
    ["skip('abc', -1)", 'abc'],
    [`skip(${one}, 9)`, []],
    ["skip('abc', 'x')", /second argument/],
  ],
  take: [
    [`take(${one}, 2)`, ['one', 'two']],
    ["take('one two three', 2)", 'on'],
    ["take('abc', -1)", ''],
    [`take(${one}, 9)`, ['one', 'two', 'three']],
    ['take(5, 1)', /a string or an array/],
  ],
  tryGet: [
    [`tryGet(${nested}, 'A', 'b', 1)`, 20],
    [`tryGet(${nested}, 'a', 'x', 1)`, null],
    [`tryGet(${nested}, 'c', 'x')`, null],
    [`tryGet(${nested}, 'a', 'b', 7)`, null],
    ["tryGet(null(), 'a')", null],
    ["tryGet(createObject(), 'constructor')", null],
    ["tryGet(createObject(), '__proto__')", null],
  ],
  tryIndexFromEnd: [
    [`tryIndexFromEnd(${one}, 2)`, 'two'],
    [`tryIndexFromEnd(${one}, 4)`, null],
    [`tryIndexFromEnd(${one}, 0)`, null],
    ["tryIndexFromEnd('a', 1)", /an array/],
  ],
  union: [
    [
      `union(json('{"one": "a", "two": "b", "three": "c1"}'), json('{"three": "c2", "four": "d", "five": "e"}'))`,
      { one: 'a', two: 'b', three: 'c2', four: 'd', five: 'e' },
    ],
    [`union(${one}, createArray('three', 'four', 'two', 'one'))`, ['one', 'two', 'three', 'four']],
    [
      `union(json('{"property": {"one": "a", "two": "b", "three": "c1"}, "nestedArray": [1, 2]}'), json('{"property": {"three": "c2", "four": "d", "five": "e"}, "nestedArray": [3, 4]}'))`,
      {
        property: { one: 'a', two: 'b', three: 'c2', four: 'd', five: 'e' },
        nestedArray: [3, 4],
      },
    ],
    [
      `union(json('[["one", "two"], ["three"]]'), json('[["three"], ["four", "two"]]'))`,
      [['one', 'two'], ['three'], ['four', 'two']],
    ],
    ["union(createObject('Name', 1), createObject('name', 2))", { Name: 2 }],
    ["union(createObject('__proto__', 1), createObject('x', 2))['__proto__']", 1],
    ['union(createArray(1), createObject())', /second argument/],
  ],
}

export const comparisonVectors: Vectors = {
  coalesce: [
    ["coalesce(null(), null(), 'default')", 'default'],
    ['coalesce(null(), 0)', 0],
    ["coalesce('')", ''],
    ['coalesce(null())', null],
    ["coalesce(1, fail('not reached'))", 1],
  ],
  equals: [
    ['equals(1, 1)', true],
    ["equals('a', 'a')", true],
    ["equals('a', 'A')", false],
    ["equals(1, '1')", false],
    ['equals(json(\'{"a": [1], "b": 2}\'), json(\'{"b": 2, "a": [1]}\'))', true],
    ["equals(createObject('a', 1), createObject('A', 1))", false],
    ['equals(createArray(1, 2), createArray(2, 1))', false],
    ['equals(null(), null())', true],
    ['equals(true(), 1)', false],
    ["equals(createObject('__proto__', 1), createObject('a', 1))", false],
  ],
  greater: [
    ['greater(1, 2)', false],
    ["greater('A', 'a')", false],
    ['greater(2, 1)', true],
    ["greater('b', 'a')", true],
    ["greater(1, 'a')", /second argument/],
    ['greater(true(), false())', /an integer or a string/],
  ],
  greaterOrEquals: [
    ['greaterOrEquals(1, 2)', false],
    ["greaterOrEquals('A', 'a')", false],
    ['greaterOrEquals(2, 2)', true],
    ["greaterOrEquals('a', 1)", /second argument/],
  ],
  less: [
    ['less(1, 2)', true],
    ["less('A', 'a')", true],
    ['less(2, 2)', false],
    ['less(null(), 2)', /an integer or a string/],
  ],
  lessOrEquals: [
    ['lessOrEquals(1, 2)', true],
    ["lessOrEquals('A', 'a')", true],
    ['lessOrEquals(2, 2)', true],
    ["lessOrEquals(2, '2')", /second argument/],
  ],
}

export const logicalVectors: Vectors = {
  and: [
    ["and(bool('true'), bool('false'))", false],
    ['and(true(), true(), true())', true],
    ["and(false(), fail('not reached'))", false],
    ['and(true(), 1)', /second argument/],
  ],
  bool: [
    ["bool('true')", true],
    ["bool('FALSE')", false],
    ['bool(1)', true],
    ['bool(0)', false],
    ['bool(true())', true],
    ["bool('yes')", /'true' or 'false'/],
    ['bool(null())', /'true' or 'false'/],
  ],
  false: [['false()', false]],
  if: [
    ["if(equals('a', 'a'), 'yes', 'no')", 'yes'],
    ["if(equals('a', 'b'), fail('not reached'), 'no')", 'no'],
    ["if(true(), 1, fail('not reached'))", 1],
    ["if('true', 1, 2)", /true or false/],
  ],
  not: [
    ['not(equals(1, 2))', true],
    ['not(true())', false],
    ["not('true')", /true or false/],
  ],
  or: [
    ["or(bool('true'), bool('false'))", true],
    ['or(false(), false())', false],
    ["or(true(), fail('not reached'))", true],
    ['or(false(), 0)', /second argument/],
  ],
  true: [['TRUE()', true]],
}

export const numericVectors: Vectors = {
  add: [
    ['add(5, 3)', 8],
    ['add(-5, 3)', -2],
    ['add(9007199254740990, 1)', 9_007_199_254_740_991],
    ['string(add(9007199254740991, 2))', '9007199254740993'],
    ['string(add(9223372036854775806, 1))', '9223372036854775807'],
    ['add(9223372036854775807, 1)', /does not fit in 64 bits/],
    ["add('5', 3)", /first argument/],
    ["add(1, float('1.5'))", /second argument, not a number/],
  ],
  copyIndex: [
    ['copyIndex()', 3],
    ['copyIndex(1)', 4],
    ["copyIndex('loop')", 3],
    ["copyIndex('loop', 10)", 13],
    ["copyIndex('loop', 'x')", /second argument/],
    ['copyIndex(1, 2)', /first argument/],
  ],
  div: [
    ['div(8, 3)', 2],
    ['div(-8, 3)', -2],
    ['div(1, 0)', /by zero/],
  ],
  float: [
    ["float('3.0')", 3],
    ["float('3.5')", 3.5],
    ["float('-1e3')", -1000],
    ['float(7)', 7],
    ["float('x')", /a number/],
    ["float('')", /a number/],
  ],
  int: [
    ["int('4')", 4],
    ["int(' -12 ')", -12],
    ['int(4)', 4],
    ["int('4.5')", /a string that is one/],
    ["string(int('9007199254740993'))", '9007199254740993'],
    ["int('9223372036854775808')", /does not fit in 64 bits/],
    ['int(true())', /an integer or a string/],
  ],
  mod: [
    ['mod(7, 3)', 1],
    ['mod(-7, 3)', -1],
    ['mod(7, 0)', /by zero/],
  ],
  mul: [
    ['mul(5, 3)', 15],
    ['string(mul(3037000499, 3037000499))', '9223372030926249001'],
    ['mul(9007199254740991, 2000)', /does not fit in 64 bits/],
    ["mul(1, '2')", /second argument/],
  ],
  sub: [
    ['sub(7, 3)', 4],
    ["string(sub(int('-9223372036854775807'), 1))", '-9223372036854775808'],
    ['sub(-9223372036854775808, 1)', /does not fit in 64 bits/],
    ['string(9223372036854775807)', '9223372036854775807'],
    ['string(max(9007199254740993, 5, 9007199254740992))', '9007199254740993'],
    ['string(min(createArray(9007199254740993, 9007199254740992)))', '9007199254740992'],
    ['equals(9007199254740993, 9007199254740992)', false],
    ["equals(9007199254740993, int('9007199254740993'))", true],
    ['greater(9007199254740993, 9007199254740992)', true],
    ['string(json(\'{"a": [9007199254740993]}\'))', '{"a":[9007199254740993]}'],
    ['string(div(9223372036854775807, 2))', '4611686018427387903'],
    ['mod(9223372036854775807, 10)', 7],
    ["concat('a', 9007199254740993)", 'a9007199254740993'],
    [
      "format('{0} {0:N0} {0:X} {0:D20}', 9007199254740993)",
      '9007199254740993 9,007,199,254,740,993 20000000000001 00009007199254740993',
    ],
  ],
}

export const objectVectors: Vectors = {
  createObject: [
    [
      "createObject('intProp', 1, 'stringProp', 'abc', 'boolProp', true(), 'arrayProp', createArray('a', 'b', 'c'), 'objectProp', createObject('key1', 'value1'))",
      {
        intProp: 1,
        stringProp: 'abc',
        boolProp: true,
        arrayProp: ['a', 'b', 'c'],
        objectProp: { key1: 'value1' },
      },
    ],
    ['createObject()', {}],
    ["createObject('__proto__', 1).__proto__", 1],
    ["createObject('a')", /one is missing/],
    ['createObject(1, 2)', /first argument/],
  ],
  items: [
    [
      `items(json('{"item002": {"number": 200}, "item001": {"number": 300}}'))`,
      [
        { key: 'item001', value: { number: 300 } },
        { key: 'item002', value: { number: 200 } },
      ],
    ],
    ["items(createObject('b', 1, 'B', 2, 'a', 3))[0].key", 'B'],
    ['items(createArray())', /an object/],
  ],
  json: [
    [`json('{"a": "b"}')`, { a: 'b' }],
    [`json('"test"')`, 'test'],
    ["json('true')", true],
    ["json('3')", 3],
    ["json('[1, 2, 3]')", [1, 2, 3]],
    ["json('null')", null],
    ["json('0.5')", 0.5],
    [`json(format('{{"a": "{0}"}}', 'demo value'))`, { a: 'demo value' }],
    [`json('{"__proto__": {"x": 1}}').__proto__.x`, 1],
    [
      `json('{''a'': ''it\\''s "b"'', c: [1, 2,], /* x */ d: {}, a2: "\\u0041''"} // y')`,
      { a: 'it\'s "b"', c: [1, 2], d: {}, a2: "A'" },
    ],
    [`json('{"a": 1, "a": 2}')`, { a: 2 }],
    [`json('[1 2]')`, /expected ',' or '\]' \(line 1, column 4\)/],
    [`json('{"a" 1}')`, /expected ':'/],
    [`json('[01]')`, /no JSON/],
    [`json('"\\x"')`, /an escape/],
    [`json('''x')`, /no closing quote/],
    [`json('/* x')`, /comment has no end/],
    [`json('nothing')`, /expected a value/],
    ["json('{')", /no JSON: .*line 1, column 2/],
    ["json('')", /no JSON/],
  ],
  null: [['null()', null]],
  objectKeys: [
    [`objectKeys(json('{"b": 1, "a": 2}'))`, ['a', 'b']],
    ["objectKeys('a')", /an object/],
  ],
  shallowMerge: [
    [
      `shallowMerge(json('[{"a": {"x": 1}, "b": 1}, {"a": {"y": 2}}, {"B": 3}]'))`,
      { a: { y: 2 }, b: 3 },
    ],
    ['shallowMerge(createArray())', {}],
    ['shallowMerge(createArray(1))', /an array of objects/],
  ],
}

const dogs = `json('[{"name": "Evie", "age": 5, "interests": ["Ball", "Frisbee"]}, {"name": "Casper", "age": 3, "interests": ["Other dogs"]}, {"name": "Indy", "age": 2, "interests": ["Butter"]}, {"name": "Kira", "age": 8, "interests": ["Rubs"]}]')`

export const lambdaVectors: Vectors = {
  filter: [
    [
      `map(filter(${dogs}, lambda('dog', greaterOrEquals(lambdaVariables('dog').age, 5))), lambda('d', lambdaVariables('d').name))`,
      ['Evie', 'Kira'],
    ],
    [`filter(${one}, lambda('x', 'i', equals(mod(lambdaVariables('i'), 2), 0)))`, ['one', 'three']],
    [`filter(${one}, lambda('x', 1))`, /true or false/],
    [`filter(${one}, true())`, /expects a lambda/],
    [`filter(${one}, lambda('a', 'b', 'c', true()))`, /names 1 to 2 variables/],
  ],
  groupBy: [
    [
      `groupBy(createArray('foo', 'bar', 'baz'), lambda('x', substring(lambdaVariables('x'), 0, 1)))`,
      { f: ['foo'], b: ['bar', 'baz'] },
    ],
    [
      `groupBy(createArray('foo', 'bar', 'baz'), lambda('x', substring(lambdaVariables('x'), 0, 1)), lambda('x', concat('Foo: ', lambdaVariables('x'))))`,
      { f: ['Foo: foo'], b: ['Foo: bar', 'Foo: baz'] },
    ],
    [`groupBy(createArray(1), lambda('x', '__proto__'))['__proto__']`, [1]],
    [`groupBy(createArray(1), lambda('x', 1))`, /has to give a string/],
  ],
  lambda: [
    ["lambda('x', 1)", /only as a direct argument/],
    ["map(createArray(1), if(true(), lambda('x', 1), lambda('x', 2)))", /expects a lambda/],
    ['map(createArray(1), lambda(1, 2))', /named by strings/],
    ["filter(createArray(1), lambda('x', 'X', true()))", /each of its variables once/],
  ],
  lambdaVariables: [
    [
      "map(createArray(1, 2), lambda('x', map(createArray(10), lambda('y', add(lambdaVariables('X'), lambdaVariables('y'))))))",
      [[11], [12]],
    ],
    [
      "map(createArray(1), lambda('x', map(createArray(2), lambda('x', lambdaVariables('x')))))",
      [[2]],
    ],
    ["lambdaVariables('x')", /no lambda around/],
    ["map(createArray(1), lambda('x', lambdaVariables('y')))", /no lambda around/],
    ["map(createArray(1), lambda('x', lambdaVariables('__proto__')))", /no lambda around/],
  ],
  map: [
    [
      `map(${dogs}, lambda('dog', lambdaVariables('dog').name))`,
      ['Evie', 'Casper', 'Indy', 'Kira'],
    ],
    [
      "map(createArray('a', 'b'), lambda('x', 'i', concat(lambdaVariables('x'), lambdaVariables('i'))))",
      ['a0', 'b1'],
    ],
    ["map(createArray(), lambda('x', fail('not reached')))", []],
    ["map('a', lambda('x', 1))", /an array/],
  ],
  mapValues: [
    [
      "mapValues(createObject('foo', 'foo'), lambda('v', toUpper(lambdaVariables('v'))))",
      { foo: 'FOO' },
    ],
    ["mapValues(createArray(), lambda('v', 1))", /an object/],
  ],
  reduce: [
    [
      `reduce(${dogs}, 0, lambda('cur', 'next', add(lambdaVariables('cur'), lambdaVariables('next').age)))`,
      18,
    ],
    [
      "reduce(range(0, 4), '', lambda('a', 'b', 'i', concat(lambdaVariables('a'), lambdaVariables('i'))))",
      '0123',
    ],
    ["reduce(createArray(), 'start', lambda('a', 'b', 1))", 'start'],
    ["reduce(createArray(1), 0, lambda('a', 1))", /names 2 to 3 variables/],
  ],
  sort: [
    [
      `map(sort(${dogs}, lambda('a', 'b', less(lambdaVariables('a').age, lambdaVariables('b').age))), lambda('d', lambdaVariables('d').name))`,
      ['Indy', 'Casper', 'Evie', 'Kira'],
    ],
    [
      "sort(createArray('b1', 'a1', 'b2', 'a2'), lambda('x', 'y', less(first(lambdaVariables('x')), first(lambdaVariables('y')))))",
      ['a1', 'a2', 'b1', 'b2'],
    ],
    ["sort(createArray(2, 1), lambda('x', 'y', 1))", /true or false/],
  ],
  toObject: [
    [
      `toObject(${dogs}, lambda('entry', lambdaVariables('entry').name), lambda('entry', lambdaVariables('entry').age))`,
      { Evie: 5, Casper: 3, Indy: 2, Kira: 8 },
    ],
    ["toObject(createArray('a', 'b'), lambda('x', lambdaVariables('x')))", { a: 'a', b: 'b' }],
    ["toObject(createArray(1, 2), lambda('x', 'same'))", { same: 2 }],
    ["toObject(createArray(1), lambda('x', null()))", /has to give a string/],
  ],
}
