import { compareTranscripts } from './transcript.ts';

/**
 * They compare goldens, use terminals and pipes, have random titles, titles that occur twice, or list
 * what has no order.
 */
const OTHERS =
  /\/(audit|capacity-sequences|follow-resume|guards|month|naming|one-spelling|pending|serve|situations|ssh|tour|wizard)\.test\.ts$/;

/** Their transcripts are what the sandbox refuses. */
const REFUSALS = /\/test\/sandbox\/(billing|drives|http|keys|refusals)\.test\.ts$/;

compareTranscripts(
  (file) =>
    REFUSALS.test(file) ||
    (/\/test\/(commands|idle|instances|watch)\//.test(file) && !OTHERS.test(file)),
);
