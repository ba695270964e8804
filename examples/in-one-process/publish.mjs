import { branchName, createLakefsClient, createRepository, openLakefsRepo, repositoryName } from 'perago'
import { startEmbeddedLakefs } from 'perago/testing'

const server = await startEmbeddedLakefs()
const { url: endpoint, accessKeyId, secretAccessKey } = server
const client = createLakefsClient({ endpoint, accessKeyId, secretAccessKey })
const repository = repositoryName('weather')
await createRepository(client, { repository, storageNamespace: 'local://weather' })
const repo = openLakefsRepo(client, repository)

const before = await repo.readBranch(branchName('main'))
const work = branchName('work')
await repo.createBranch({ branch: work, from: before.head })
const bytes = Buffer.from('berlin,21\n')
await repo.write({ branch: work, path: 'today.csv', body: { sizeBytes: bytes.length, open: () => bytes } })
const { commit } = await repo.commit({ branch: work, message: 'Add the weather of today' })
const { ref } = await repo.merge({ source: commit.ref, into: before.branch })
for await (const { change, path } of repo.diff(before.head, ref)) console.log(change, path)

await client.close()
await server.close()
