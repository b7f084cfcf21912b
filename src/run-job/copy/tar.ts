// The bundle puts a package into each of its modules that imports it.
export { type Entry, extract, type Headers, type Pack, pack } from 'tar-stream';
