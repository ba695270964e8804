import { branchName, createLakefsClient, createRepository, openLakefsRepo, repositoryName } from 'perago'

const client = createLakefsClient({
  endpoint: process.env.LAKEFS_ENDPOINT,
  accessKeyId: process.env.LAKEFS_ACCESS_KEY_ID,
  secretAccessKey: process.env.LAKEFS_SECRET_ACCESS_KEY,
})
const repository = repositoryName(process.argv[2] ?? 'first-steps')
await createRepository(client, { repository, storageNamespace: `local://${repository}` })
const repo = openLakefsRepo(client, repository)

const main = await repo.readBranch(branchName('main'))
console.log(`both start from ${main.head.slice(0, 8)}`)
await publish('anna', 'berlin,21\n')
await publish('ben', 'berlin,19\n')
console.log(`main holds: ${await readText('weather.csv')}`)
await client.close()

/** Commits one version of the file on a new branch, then merges it into main. */
async function publish(person, content) {
  const branch = branchName(`${person}-${Date.now()}`)
  await repo.createBranch({ branch, from: main.head })
  const bytes = Buffer.from(content)
  await repo.write({ branch, path: 'weather.csv', body: { sizeBytes: bytes.length, open: () => bytes } })
  const { committed, commit } = await repo.commit({ branch, message: `The weather, by ${person}` })
  if (!committed) return console.log(`${person}: nothing new`)
  const outcome = await repo.merge({ source: commit.ref, into: branchName('main') })
  console.log(outcome.merged ? `${person}: published` : `${person}: not published, ${outcome.reason}`)
}

async function readText(path) {
  const { body } = await repo.read(branchName('main'), path)
  const chunks = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString().trim()
}
