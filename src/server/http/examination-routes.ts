/** What keeps work from being done, over HTTP. */

import type { Hono } from 'hono'
import { defined } from '../../base/defined.ts'
import { MissingError } from '../../base/errors.ts'
import type { ExaminationView } from '../../runtime/views/examination-view.ts'
import { requireRight } from '../access/callers.ts'
import type { HttpEnvironment } from './environment.ts'
import { readQuery } from './read-request.ts'

export function addExaminationRoute(app: Hono<HttpEnvironment>, view: ExaminationView | undefined): void {
  app.get('/examination', async (asked) => {
    const caller = asked.get('caller')
    requireRight(caller, 'examine the server')
    if (view === undefined || caller.tenant !== undefined) {
      throw new MissingError('api/no-examination', 'examine the server: it is not shown', {
        next: 'Ask with a token of the default tenant, or run "perago doctor".',
      })
    }
    readQuery(asked.req.url, {})
    const { examinedAt, checks } = await view.examine()
    return asked.json({
      examined_at: examinedAt.toISOString(),
      checks: checks.map(({ name, state, text, next }) => ({ name, state, text, ...defined({ next }) })),
    })
  })
}
