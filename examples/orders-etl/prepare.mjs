// Creates the repository "orders" on the lakeFS that the environment names, unless it exists.
import { createLakefsClient, createRepository, repositoryName } from 'perago'

const client = createLakefsClient({
  endpoint: process.env.LAKEFS_ENDPOINT,
  accessKeyId: process.env.LAKEFS_ACCESS_KEY_ID,
  secretAccessKey: process.env.LAKEFS_SECRET_ACCESS_KEY,
})
const repository = repositoryName('orders')
// Where lakeFS stores its objects: a prefix of a bucket, such as s3://lakefs, or a directory.
const { LAKEFS_STORAGE: storage = 'local:/' } = process.env
const { created } = await createRepository(client, {
  repository,
  storageNamespace: `${storage}/${repository}`,
})
console.log(created ? `made repository ${repository}` : `repository ${repository} is there already`)
await client.close()
