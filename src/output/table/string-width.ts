// Separate from ../width.ts, since loading the package takes longer than the rest of a table in
// most commands.
export { default as stringWidth } from 'string-width';
