/** The orders of one day, in three tasks: ingest → validate → aggregate. Each reads what the task before published. */

import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api'
import {
  defineWorkflow,
  defineWorkspaceTask,
  forbidGlob,
  jsonMatches,
  maxBytes,
  requireGlob,
  TerminalError,
  type TaskControlsInput,
} from 'perago'
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const owner = 'data@example.org'
const params = z.object({ day: z.iso.date() })

// A retry may replace only a publication of the same task. Commits of anybody else are never replaced.
const controls: TaskControlsInput = { replace: 'own', retry: { delaySeconds: 1, jitterMs: 0 } }

/** If more than this share of a day's orders is invalid, a person has to check. */
const REJECTED_SHARE_MAX = 0.1

export const ingest = defineWorkspaceTask({
  name: 'orders.ingest',
  description: 'Takes the export of one day as Parquet, untouched.',
  owner,
  params,
  result: z.object({ rows: z.int() }),
  controls,
  workspace: {
    include: ['raw/**'],
    post: [requireGlob('raw/*.parquet'), forbidGlob('**/*.tmp'), maxBytes(50_000_000)],
  },
  // DuckDB uses its own threads, so the body does not block the worker.
  body: async ({ workspace, params: { day }, log }) => {
    await mkdir(workspace.path('raw'), { recursive: true })
    const rows = await withDuckDb(async (db) => {
      await run(
        db,
        `COPY (SELECT * FROM read_csv($1, all_varchar = true)) TO ${text(rawFile(workspace, day))}`,
        [exportOf(day)],
      )
      return countRows(db, rawFile(workspace, day))
    })
    log.info(`took ${rows} orders of ${day}`)
    return { rows }
  },
})

export const validate = defineWorkspaceTask({
  name: 'orders.validate',
  description: 'Sorts the orders of one day into good ones and rejected ones, each of these with its reason.',
  owner,
  params,
  result: z.object({ good: z.int(), rejected: z.int() }),
  controls,
  workspace: {
    include: ['raw/**', 'good/**', 'rejected/**'],
    pre: [requireGlob('raw/*.parquet')],
    post: [requireGlob('good/*.parquet'), forbidGlob('**/*.tmp')],
  },
  body: async ({ workspace, params: { day } }) => {
    const good = workspace.path('good', `${day}.parquet`)
    for (const folder of ['good', 'rejected']) await mkdir(workspace.path(folder), { recursive: true })
    const result = await withDuckDb(async (db) => {
      await run(db, `CREATE TABLE judged AS ${JUDGED} FROM ${text(rawFile(workspace, day))}`)
      await run(
        db,
        `COPY (
           SELECT order_id, ordered_at::TIMESTAMP AS ordered_at, customer_id, country, product,
                  quantity::INTEGER AS quantity, unit_price::DECIMAL(12, 2) AS unit_price
           FROM judged WHERE reason IS NULL ORDER BY order_id
         ) TO ${text(good)}`,
      )
      await run(
        db,
        `COPY (SELECT * FROM judged WHERE reason IS NOT NULL ORDER BY order_id)
         TO ${text(workspace.path('rejected', `${day}.csv`))} (HEADER)`,
      )
      const rows = await countRows(db, good)
      return { good: rows, rejected: (await countRows(db, rawFile(workspace, day))) - rows }
    })
    const share = result.rejected / Math.max(1, result.good + result.rejected)
    if (share > REJECTED_SHARE_MAX)
      throw new TerminalError(
        `${Math.round(share * 100)} % of the orders of ${day} are wrong: ask who exported them`,
      )
    return result
  },
})

const summary = z.object({
  day: z.iso.date(),
  orders: z.int().positive(),
  revenue: z.number().positive(),
  best: z.string().min(1),
})

export const aggregate = defineWorkspaceTask({
  name: 'orders.aggregate',
  description: 'Adds up the good orders of one day, by country and product.',
  owner,
  params,
  result: summary,
  controls,
  workspace: {
    include: ['good/**', 'revenue/**'],
    pre: [requireGlob('good/*.parquet')],
    post: [requireGlob('revenue/*.parquet'), jsonMatches('revenue/latest.json', summary)],
  },
  body: async ({ workspace, params: { day } }) => {
    await mkdir(workspace.path('revenue'), { recursive: true })
    const found = await withDuckDb(async (db) => {
      const sold = text(workspace.path('revenue', `${day}.parquet`))
      await run(
        db,
        `COPY (
           SELECT country, product, count(*)::INTEGER AS orders, sum(quantity * unit_price) AS revenue
           FROM ${text(workspace.path('good', `${day}.parquet`))} GROUP BY ALL ORDER BY ALL
         ) TO ${sold}`,
      )
      const [totals] = await rowsOf(
        db,
        `SELECT sum(orders)::INTEGER AS orders, sum(revenue)::DOUBLE AS revenue, arg_max(product, revenue) AS best
         FROM (SELECT product, sum(orders) AS orders, sum(revenue) AS revenue FROM ${sold} GROUP BY product)`,
      )
      return summary.parse({ day, ...totals })
    })
    await writeFile(workspace.path('revenue', 'latest.json'), `${JSON.stringify(found, undefined, 2)}\n`)
    return found
  },
})

/** One after the other: each step gets the commit that the step before published. */
export const daily = defineWorkflow({
  name: 'orders.daily',
  description: 'From the export of one day to its revenue.',
  owner,
  inputParameters: ['workspace', 'day'],
  steps: [
    {
      task: ingest,
      taskReferenceName: 'ingest',
      inputParameters: { workspace: '${workflow.input.workspace}', params: { day: '${workflow.input.day}' } },
    },
    {
      task: validate,
      taskReferenceName: 'validate',
      inputParameters: { workspace: '${ingest.output.workspace}', params: { day: '${workflow.input.day}' } },
    },
    {
      task: aggregate,
      taskReferenceName: 'aggregate',
      inputParameters: {
        workspace: '${validate.output.workspace}',
        params: { day: '${workflow.input.day}' },
      },
    },
  ],
  outputParameters: {
    workspace: '${aggregate.output.workspace}',
    summary: '${aggregate.output.result}',
    rejected: '${validate.output.result.rejected}',
  },
})

const JUDGED = `
  SELECT *, CASE
    WHEN row_number() OVER (PARTITION BY order_id ORDER BY ordered_at) > 1 THEN 'ordered twice'
    WHEN coalesce(customer_id, '') = '' THEN 'no customer'
    WHEN coalesce(try_cast(quantity AS INTEGER), 0) <= 0 THEN 'no quantity'
    WHEN coalesce(try_cast(unit_price AS DECIMAL(12, 2)), 0) <= 0 THEN 'no price'
    WHEN currency <> 'EUR' THEN 'not in euros'
  END AS reason`

/** Where the shop stores its exports; here, beside this file. */
function exportOf(day: string): string {
  return fileURLToPath(new URL(`data/${day}.csv`, import.meta.url))
}

function rawFile(workspace: { path(...segments: readonly string[]): string }, day: string): string {
  return workspace.path('raw', `${day}.parquet`)
}

async function withDuckDb<T>(work: (db: DuckDBConnection) => Promise<T>): Promise<T> {
  // One thread writes the same bytes every time, so that a second run of a day changes nothing.
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
  const db = await instance.connect()
  try {
    return await work(db)
  } finally {
    db.closeSync()
    instance.closeSync()
  }
}

async function run(db: DuckDBConnection, sql: string, values: string[] = []): Promise<void> {
  await db.run(sql, values)
}

async function rowsOf(db: DuckDBConnection, sql: string): Promise<readonly Record<string, unknown>[]> {
  return (await db.runAndReadAll(sql)).getRowObjectsJson()
}

async function countRows(db: DuckDBConnection, file: string): Promise<number> {
  const [row] = await rowsOf(db, `SELECT count(*)::INTEGER AS rows FROM ${text(file)}`)
  return Number(row?.['rows'])
}

/** A file name within SQL. */
function text(path: string): string {
  return `'${path.replaceAll("'", "''")}'`
}
