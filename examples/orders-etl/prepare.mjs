// Makes the repository "orders" on the lakeFS that the environment names; leaves it as it is when it is there already.
import { createLakefsClient, createRepository, repositoryName } from 'perago'

const client = createLakefsClient({
  endpoint: process.env.LAKEFS_ENDPOINT,
  accessKeyId: process.env.LAKEFS_ACCESS_KEY_ID,
  secretAccessKey: process.env.LAKEFS_SECRET_ACCESS_KEY,
})
const repository = repositoryName('orders')
const { created } = await createRepository(client, { repository, storageNamespace: `local://${repository}` })
console.log(created ? `made repository ${repository}` : `repository ${repository} is there already`)
await client.close()
