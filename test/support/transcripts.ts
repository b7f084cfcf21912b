import { compareTranscripts } from './transcript.ts';

/** They compare goldens, have random titles or times, or show the computer that runs them. */
const OTHERS =
  /\/(audit|capacity-sequences|month|naming|situations|tour|flags|documented-words|fast-run)\.test\.ts$/;

/** Their transcripts are what the sandbox refuses. */
const REFUSALS = /\/test\/sandbox\/(billing|drives|http|keys|refusals)\.test\.ts$/;

const ROOMS =
  /\/test\/(command-line|commands|completion|idle|instances|mcp|money|output|ssh|watch|run)[./]/;

compareTranscripts((file) => REFUSALS.test(file) || (ROOMS.test(file) && !OTHERS.test(file)));
