/**
 * The store in etcd. Needs the driver `etcd3`.
 *
 * @module perago/stores/etcd
 */

export { openEtcdStore } from './etcd/etcd-store.ts'
export type { EtcdStoreOptions } from './etcd/etcd-store.ts'
