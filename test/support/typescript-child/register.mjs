// `node --import …/register.mjs program.ts` runs a TypeScript program of this project in its own process.
import { register } from 'node:module'

register('./hooks.mjs', import.meta.url)
