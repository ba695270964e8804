/** Package entry: the store in etcd. Needs the driver `etcd3`. */

export { openEtcdStore } from './etcd/etcd-store.ts'
export type { EtcdStoreOptions } from './etcd/etcd-store.ts'
