// Only this file imports the package: the bundle would copy the package into each importing module.
export { type Entry, extract, type Headers, type Pack, pack } from 'tar-stream';
