import { compareTranscripts } from './transcript.ts';

/** They compare goldens, have random titles or winners, show the computer that runs them, or test all documented words. */
const OTHERS =
  /\/(audit|job-file|capacity-sequences|month|names|situations|ssh|tour|tunnel|documented-words)\.test\.ts$/;

/** Their transcripts are what the sandbox responds. */
const RESPONSES =
  /\/test\/sandbox\/(billing|books|drives|faults|http|instances|keys|log|refusals|stale)\.test\.ts$/;

const ROOMS =
  /\/test\/(command-line|commands|completion|idle|instances|jobs|output|ssh|watch|run)[./]/;

compareTranscripts((file) => RESPONSES.test(file) || (ROOMS.test(file) && !OTHERS.test(file)));
