/** What the worker did in an attempt, step by step: a table with a bar for each. */

import { State } from '../../parts/state.tsx'
import { nameStep } from '../../parts/step-names.ts'
import { Told } from '../../parts/told.tsx'
import { showLength, Time } from '../../parts/time.tsx'
import type { Task } from '../../parts/run-state.ts'
import { readStepTimes, type StepRow } from './step-times.ts'

export function StepTable({ task: { steps = [], publication } }: { readonly task: Task }) {
  const [first] = steps
  if (first === undefined) return null
  return (
    <section>
      <h2>What the worker did</h2>
      <p class="faint">
        From <Time at={first.at} /> to its report to the server; delivery and clean-up come after.
      </p>
      <div class="scrolls" tabIndex={0} role="region" aria-label="Table of the steps of this try">
        <table class="step-times">
          <thead>
            <tr>
              <th scope="col">Step</th>
              <th scope="col">Began</th>
              <th scope="col">Took</th>
              <td aria-hidden="true" />
            </tr>
          </thead>
          <tbody>
            {readStepTimes(steps, publication?.fences ?? []).map((row, index) => (
              <StepLine key={index} row={row} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function StepLine({ row }: { readonly row: StepRow }) {
  const { step, afterMs, isPart, fence } = row
  return (
    <>
      <tr>
        <th scope="row" class={isPart ? 'further' : ''} title={step.step}>
          {nameStep(step.step)} {fence !== undefined && <State state={fence.passed ? 'ok' : 'refused'} />}
        </th>
        <td class="number">
          <time dateTime={step.at} title={step.at}>
            +{showLength(afterMs)}
          </time>
        </td>
        <td class="number">{showLength(step.ms)}</td>
        <td class="step-bar" aria-hidden="true">
          <Bar row={row} />
        </td>
      </tr>
      {fence?.why !== undefined && (
        <tr>
          <td colSpan={4}>
            <p class="why">
              <Told text={fence.why} />
            </p>
          </td>
        </tr>
      )}
    </>
  )
}

const WIDTH = 1_000
/** At least so wide that it can be seen. */
const NARROWEST = 4

function Bar({ row: { left, width, fence } }: { readonly row: StepRow }) {
  const wide = Math.max(NARROWEST, width * WIDTH)
  return (
    <svg
      class={`bars kind-${fence?.passed === false ? 'bad' : 'good'}`}
      viewBox={`0 0 ${String(WIDTH)} 14`}
      preserveAspectRatio="none"
    >
      <rect class="bar-work" x={Math.min(left * WIDTH, WIDTH - wide)} y={2} width={wide} height={10} />
    </svg>
  )
}
