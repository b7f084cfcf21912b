// Separate from ../width.ts: loading the package takes longer than most commands need for the rest
// of a table.
export { default as stringWidth } from 'string-width';
