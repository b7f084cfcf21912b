// Only this file imports the package, since the bundle copies it into each module that does.
export { type Entry, extract, type Headers, type Pack, pack } from 'tar-stream';
