import { defineCommandTask } from 'perago'
import { z } from 'zod'

/** Puts the orders there that the tasks of the guide work on. */
export const take = defineCommandTask({
  name: 'orders.take',
  owner: 'data@example.org',
  params: z.object({}),
  result: z.object({ orders: z.int() }),
  workspace: { prefix: 'orders' },
  command: [
    'sh',
    '-c',
    `printf 'day,amount,currency\\n16,20,EUR\\n16,30,USD\\n' > raw.csv && printf '{"orders": 2}'`,
  ],
  resultFrom: 'stdout',
})
