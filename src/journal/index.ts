export { type AnswerId, answerId } from './answer-id.ts';
export type * from './contract.ts';
export { openJournal } from './journal.ts';
export type { Operation, Origin, Snapshot } from './record.ts';
