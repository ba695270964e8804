/** Schedules over HTTP: listed, paused, resumed. They are registered with their pipelines. */

import type { Hono } from 'hono'
import { z } from 'zod'
import { defined } from '../../base/defined.ts'
import type { ListedSchedule } from '../../engine/host/schedules.ts'
import { API_PAGE_EVENTS, API_PAGE_MAX_EVENTS } from '../limits.ts'
import { decodeCursor, encodeCursor } from './cursors.ts'
import type { EngineRoutesParts } from './engine-routes.ts'
import type { HttpEnvironment } from './environment.ts'
import { openCallerEngine } from './open-caller-engine.ts'
import { once, readQuery, textOf, wholeNumber } from './read-request.ts'

type Named = Pick<ListedSchedule, 'pipeline' | 'name'>

const SCHEDULE_AFTER = /^[^:]{1,256}:[^:]{1,256}$/

export function addScheduleRoutes(
  app: Hono<HttpEnvironment>,
  { engines }: Pick<EngineRoutesParts, 'engines'>,
): void {
  app.get('/schedules', async (asked) => {
    const {
      pipeline,
      after,
      limit = API_PAGE_EVENTS,
    } = readQuery(asked.req.url, {
      pipeline: once(textOf({ least: 1, most: 256 })),
      after: once(z.string()),
      limit: once(wholeNumber({ least: 1, most: API_PAGE_MAX_EVENTS })),
    })
    const { schedules } = await openCallerEngine(engines, asked, 'read executions and pipelines')
    const from = decodeCursor(after, SCHEDULE_AFTER) ?? ''
    const left = (await schedules.list())
      .filter((each) => placeOf(each) > from && (pipeline === undefined || each.pipeline === pipeline))
      .sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
    const page = left.slice(0, limit)
    const last = left.length > limit ? page.at(-1) : undefined
    const next = encodeCursor(last && placeOf(last))
    return asked.json({ schedules: page.map(showSchedule), ...defined({ next_after: next }) })
  })
  for (const act of ['pause', 'resume'] as const)
    app.post(`/pipelines/:name/schedules/:schedule/${act}`, async (asked) => {
      const { schedules } = await openCallerEngine(engines, asked, 'control schedules')
      readQuery(asked.req.url, {})
      const { name: pipeline, schedule: name } = asked.req.param()
      return asked.json(showSchedule(await schedules[act](pipeline, name)))
    })
}

/** Neither name has a colon left. */
function placeOf({ pipeline, name }: Named): string {
  return `${encodeURIComponent(pipeline)}:${encodeURIComponent(name)}`
}

function showSchedule({ pipeline, name, schedule, isPaused, nextMs, last }: ListedSchedule) {
  const { cron, timeZone = 'UTC', catchUp = 'last', input } = schedule
  return {
    ...{ pipeline, name, cron, time_zone: timeZone, catch_up: catchUp, ...defined({ input }) },
    paused: isPaused,
    ...(nextMs === undefined ? {} : { next_at: timeOf(nextMs) }),
    ...(last === undefined
      ? {}
      : {
          last: {
            at: timeOf(last.atMs),
            ...defined({ execution_id: last.workflowId, problem: last.problem }),
          },
        }),
  }
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}
