// `node --import …/register.mjs program.ts` runs a TypeScript program of this project as a process of its own.
import { register } from 'node:module'

register('./hooks.mjs', import.meta.url)
