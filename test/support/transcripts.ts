import { compareTranscripts } from './transcript.ts';

/** They compare goldens, have random titles or winners, show the computer that runs them, or test all documented words. */
const OTHERS =
  /\/(audit|job-file|capacity-sequences|guards|month|names|naming|situations|ssh|tour|tunnel|documented-words)\.test\.ts$/;

/** Their transcripts are what the sandbox refuses. */
const REFUSALS = /\/test\/sandbox\/(billing|drives|http|keys|refusals)\.test\.ts$/;

const ROOMS =
  /\/test\/(command-line|commands|completion|idle|instances|jobs|output|ssh|watch|run)[./]/;

compareTranscripts((file) => REFUSALS.test(file) || (ROOMS.test(file) && !OTHERS.test(file)));
