/** The form of a pipeline document. The published JSON Schema is printed from this. */

import { checkNodeId, RESERVED_NODE_IDS } from '../../core/namespaces/names.ts'
import { isPeragoError } from '../../base/errors.ts'
import { LOOP_MAX_ITERATIONS, RETRIES_MAX } from '../limits.ts'
import type { JsonObject } from '../../base/json.ts'
import { printJsonSchema } from './json-schema.ts'
import {
  checkShape,
  type Field,
  type FieldsShape,
  type NamedShapes,
  type Shape,
  type ShapeProblem,
} from './shape.ts'

/** Everything in which a value does not have the form of a pipeline document. */
export function checkDocumentShape(value: unknown): readonly ShapeProblem[] {
  return checkShape(value, PIPELINE, NAMED)
}

/** The JSON Schema of pipeline files, as published in `schemas/pipeline.schema.json`. */
export function pipelineSchema(): JsonObject {
  return printJsonSchema(
    {
      id: 'urn:perago:schema:pipeline',
      title: 'A pipeline of perago',
      description: 'Units of work, and what must have happened before each.',
    },
    PIPELINE,
    NAMED,
  )
}

/** Names that an expression gives another meaning. */
const TAKEN_ROOTS = ['workflow', 'CPEWF_TASK_ID', 'template']
const LOOP_SUFFIX = /__\d+$/

/** Why a text cannot name a unit; the rule for node ids of events and variables, and what expressions need. */
function unitNameProblem(name: string): string | undefined {
  try {
    checkNodeId(name)
  } catch (error) {
    if (!isPeragoError(error)) throw error
    return error.message
  }
  if (TAKEN_ROOTS.includes(name)) return `"${name}" cannot name a unit: expressions give it another meaning`
  return LOOP_SUFFIX.test(name)
    ? `"${name}" cannot name a unit: in loops, names end with "__" and a number`
    : undefined
}

const UNIT_NAME_PATTERN = new RegExp(
  `^(?!(?:${[...RESERVED_NODE_IDS, ...TAKEN_ROOTS].join('|')})$)(?!.*__\\d+$)[A-Za-z0-9_-]{1,128}$`,
)
const WORD = /^[A-Za-z0-9_-]{1,128}$/

const text = (pattern: RegExp, wanted: string): Shape => ({ is: 'text', pattern, wanted })
const ANY_TEXT = text(/^[\s\S]+$/, 'a text')
const DOTTED_NAME = text(
  /^[A-Za-z0-9_.-]{1,200}$/,
  'a name of letters, digits, "_", "-" and ".", at most 200',
)
const ONE_WORD = text(WORD, 'one word of letters, digits, "_" and "-"')
const DURATION = text(/^\d{1,9} ?(?:s|min|h|d)$/, 'a duration of whole seconds, such as 30s, 5min, 2h or 1d')
const SHORT_DURATION = text(/^\d{1,9} ?(?:ms|s|min|h|d)$/, 'a duration, such as 200ms, 30s, 5min, 2h or 1d')
const SIZE = text(/^\d{1,9} ?(?:B|KiB|MiB|GiB|kB|MB|GB)$/, 'a size, such as 512MiB or 2GiB')
const EXPRESSION = text(/^\s*\$\{[^{}]+\}\s*$/, 'one expression: ${…}')
const CONDITION = ANY_TEXT
const VERSION: Shape = { is: 'number', min: 1, max: 1_000_000, whole: true }
const SHARE: Shape = { is: 'number', min: 0, max: 1 }
const BOOLEAN: Shape = { is: 'boolean' }
const JSON_OBJECT: Shape = { is: 'object' }
const ANY_JSON: Shape = { is: 'json' }
const UNITS: Shape = { is: 'named', name: 'units' }
const NAMES: Shape = { is: 'list', of: text(WORD, 'the name of a unit') }

const optional = (about: string, shape: Shape): Field => ({ about, shape })
const required = (about: string, shape: Shape): Field => ({ about, shape, required: true })
const fields = (of: Readonly<Record<string, Field>>): FieldsShape => ({ is: 'fields', fields: of })
const wordMap = (of: Shape, min = 0): Shape => ({
  is: 'map',
  of,
  min,
  keys: {
    pattern: WORD,
    check: (key) =>
      WORD.test(key)
        ? undefined
        : `the name ${JSON.stringify(key)} must be one word of letters, digits, "_" and "-"`,
  },
})

const PLANNING = fields({
  priority: optional('Higher goes first. Default: 0.', { is: 'number', min: -1_000_000, max: 1_000_000 }),
  complexity: optional('How likely it fails by itself, 0 to 1.', SHARE),
  impact: optional('How much is lost if it fails, 0 to 1.', SHARE),
  cpu: optional('Cores it needs.', { is: 'number', min: 0, max: 1_000_000 }),
  memory: optional('Memory it needs, such as 512MiB.', SIZE),
  gpu: optional('GPUs it needs.', { is: 'number', min: 0, max: 1_000_000 }),
  expected: optional('How long it usually takes; history replaces it.', SHORT_DURATION),
  affinity: optional('Units of one key go to one worker where possible.', ANY_TEXT),
})

const COMMON: Readonly<Record<string, Field>> = {
  description: optional('For readers.', ANY_TEXT),
  after: optional('Units that end before it starts, besides those that it refers to.', NAMES),
  onlyIf: optional('A condition, evaluated once when it could start: false skips it.', CONDITION),
  startWhen: optional(
    'A condition over events and variables: it does not start before this holds.',
    CONDITION,
  ),
  startDelay: optional('How long it waits when it could start.', DURATION),
  optional: optional('Its failure does not end the execution.', BOOLEAN),
  phase: optional('A label; without one, its layer. Checkpoints and limits are per phase.', ONE_WORD),
  planning: optional('What scheduling knows of it; only the order depends on it.', PLANNING),
  undo: optional(
    'The task that undoes it during a rollback.',
    fields({
      task: required('The task type.', DOTTED_NAME),
      input: optional('Added to the output of the unit, which is its input.', JSON_OBJECT),
      order: optional('Lower goes first. Default: 0. Among equals, what completed last goes first.', {
        ...{ is: 'number', min: -1_000_000, max: 1_000_000, whole: true },
      }),
    }),
  ),
}

const POLICY = fields({
  onFailure: optional(
    'Whether units that completed are undone when one has failed for good. Default: fail.',
    {
      is: 'one-of',
      values: ['fail', 'rollback'],
    },
  ),
  attempts: optional('How often it may run from the beginning, each time after a rollback. Default: 1.', {
    ...{ is: 'number', min: 1, max: RETRIES_MAX, whole: true },
  }),
  recover: optional(
    'Before all that: state and branches go back, and it runs on from there. Needs an engine over a store.',
    fields({
      back: required('The failed unit, its phase, or all since the last good checkpoint.', {
        is: 'one-of',
        values: ['unit', 'phase', 'checkpoint'],
      }),
      times: optional('How often in one run. Default: 1.', {
        ...{ is: 'number', min: 1, max: RETRIES_MAX, whole: true },
      }),
    }),
  ),
  verify: optional('Checks the results when all units have ended. If it fails, all units are undone.', {
    is: 'choice',
    what: 'a verification',
    options: {
      task: fields({
        task: required('The task type; its output may say `passed: false`.', DOTTED_NAME),
        input: optional('Added to `outputs`, by unit, and `output`.', JSON_OBJECT),
      }),
      condition: fields({ condition: required('The results are right if this holds.', CONDITION) }),
    },
  }),
})

const RETRY = fields({
  times: optional('Attempts after the first one.', { is: 'number', min: 0, max: RETRIES_MAX, whole: true }),
  delay: optional('How long to wait before the first of them.', DURATION),
  backoff: optional('How the delay grows.', { is: 'one-of', values: ['fixed', 'linear', 'exponential'] }),
  maxDelay: optional('It does not grow above this.', DURATION),
  jitter: optional('A random part that is added, at most this.', SHORT_DURATION),
})

const INPUTS = wordMap(
  fields({
    description: optional('For readers.', ANY_TEXT),
    default: optional('Its value when none is given.', ANY_JSON),
  }),
)

const LOOP_MAX: Shape = { is: 'number', min: 1, max: LOOP_MAX_ITERATIONS, whole: true }

/** Each kind of unit by the key that only it has. */
const KINDS: Readonly<Record<string, FieldsShape>> = {
  task: fields({
    task: required('The task type that a worker polls for.', DOTTED_NAME),
    workspace: optional('Repository, branch and commit it works on.', ANY_JSON),
    params: optional('Its parameters.', ANY_JSON),
    input: optional('More inputs, for tasks that read other names than workspace and params.', JSON_OBJECT),
    retry: optional('Overrides what the task declares.', RETRY),
    timeout: optional('How long one attempt may take.', DURATION),
    lease: optional('How long one attempt may be silent.', DURATION),
    target: optional('Units of one target share a circuit breaker.', ANY_TEXT),
    ...COMMON,
  }),
  wait: fields({
    wait: required(
      'For a time, until a time, or for events.',
      fields({
        for: optional('How long.', DURATION),
        until: optional('A time in ISO 8601, or an expression for one.', ANY_TEXT),
        events: optional('Event types.', { is: 'list', of: ANY_TEXT, min: 1 }),
        which: optional('Of several events: all, or the first one. Default: all.', {
          is: 'one-of',
          values: ['all', 'any'],
        }),
        timeout: optional('It fails when the events have not come by then.', DURATION),
      }),
    ),
    ...COMMON,
  }),
  human: fields({
    human: required(
      'Waits until somebody completes it.',
      fields({
        input: optional('What that person gets to see.', JSON_OBJECT),
        timeout: optional('It fails when nobody has completed it by then.', DURATION),
      }),
    ),
    ...COMMON,
  }),
  switch: fields({
    switch: required('An expression; its text chooses the case.', EXPRESSION),
    cases: required('The units of each case.', wordMap(UNITS, 1)),
    default: optional('The units that run where no case has this name.', UNITS),
    ...COMMON,
  }),
  if: fields({
    if: required('An expression that gives true or false.', EXPRESSION),
    then: required('The units that run for true.', UNITS),
    else: optional('The units that run otherwise.', UNITS),
    ...COMMON,
  }),
  each: fields({
    each: required('A list, or an expression for one.', {
      is: 'either',
      of: [{ is: 'list', of: ANY_JSON }, EXPRESSION],
      wanted: 'a list, or one expression: ${…}',
    }),
    max: required('A longer list fails the unit.', LOOP_MAX),
    atOnce: optional('Iterations at the same time. Default: 1.', LOOP_MAX),
    units: required('The units that run once for every item.', UNITS),
    ...COMMON,
  }),
  while: fields({
    while: required('The units run again as long as this condition holds after an iteration.', CONDITION),
    max: required('One iteration more fails the unit.', LOOP_MAX),
    units: required('The units that are repeated.', UNITS),
    ...COMMON,
  }),
  pipeline: fields({
    pipeline: required('The name of the pipeline that runs as an execution of its own.', DOTTED_NAME),
    version: optional('Default: the latest one.', VERSION),
    input: optional('Its input.', JSON_OBJECT),
    ...COMMON,
  }),
  barrier: fields({
    barrier: required('Does nothing but end; others can be after it.', { is: 'one-of', values: [true] }),
    ...COMMON,
  }),
  set: fields({
    set: required('Variables of the execution.', JSON_OBJECT),
    ...COMMON,
  }),
  end: fields({
    end: required('Ends the execution with this status.', {
      is: 'one-of',
      values: ['COMPLETED', 'FAILED', 'TERMINATED'],
    }),
    reason: optional('For readers.', ANY_TEXT),
    output: optional('The output of the execution.', JSON_OBJECT),
    ...COMMON,
  }),
  template: fields({
    template: required('The name of a template of this file.', ONE_WORD),
    with: optional('Values for its parameters.', JSON_OBJECT),
    after: optional('Units that end before its units start.', NAMES),
    description: optional('For readers.', ANY_TEXT),
  }),
}

const NAMED: NamedShapes = {
  unit: { is: 'choice', what: 'a unit', options: KINDS },
  units: {
    is: 'map',
    of: { is: 'named', name: 'unit' },
    keys: { pattern: UNIT_NAME_PATTERN, check: unitNameProblem },
    min: 1,
  },
}

const PIPELINE = fields({
  $schema: optional('The address of this schema, for editors.', ANY_TEXT),
  name: required('Its name.', DOTTED_NAME),
  version: optional('Default: 1.', VERSION),
  description: optional('For readers.', ANY_TEXT),
  owner: optional(
    'E-mail address of the person or team responsible.',
    text(/^[^\s@]+@[^\s@]+$/, 'an e-mail address'),
  ),
  input: optional('The names of its inputs.', INPUTS),
  timeout: optional('How long an execution may take.', DURATION),
  onTimeout: optional('What happens then. Default: end.', { is: 'one-of', values: ['end', 'alert'] }),
  restartable: optional('Whether an execution may be started again. Default: true.', BOOLEAN),
  policy: optional('What follows a failure, and what is checked before the end.', POLICY),
  units: required('The units of work.', UNITS),
  output: optional('The output of an execution. Default: that of its last task.', JSON_OBJECT),
  templates: optional(
    'Units to use several times, with different values.',
    wordMap(
      fields({
        description: optional('For readers.', ANY_TEXT),
        parameters: optional('What `with` may give; ${template.NAME} is its value.', INPUTS),
        units: required('The units; INSTANCE_NAME is the name of each.', UNITS),
        output: optional('What ${INSTANCE.output.NAME} means.', JSON_OBJECT),
      }),
    ),
  ),
  schedules: optional(
    'When it is started.',
    wordMap(
      fields({
        cron: required('Minute, hour, day of month, month, day of week.', ANY_TEXT),
        timeZone: optional('A time zone such as Europe/Berlin. Default: UTC.', ANY_TEXT),
        catchUp: optional('What is started of what was missed. Default: last.', {
          is: 'one-of',
          values: ['none', 'last', 'all'],
        }),
        input: optional('The input of each start.', JSON_OBJECT),
      }),
    ),
  ),
})
