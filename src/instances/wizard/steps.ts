import type { Context } from '../../context.ts';
import type { Prompts } from '../../prompts/prompts.ts';
import type { CreateFlags } from '../request/given.ts';
import type { Answer } from './answer.ts';
import { askImage } from './container.ts';
import { askHardware } from './hardware.ts';
import { askKeys } from './keys.ts';
import type { Lists } from './lists.ts';
import { askDrive, askName, askRuns, freeDrives } from './questions.ts';
import type { Wish } from './summary.ts';

/** One question. */
export interface Step {
  /** The label in the summary. */
  readonly label: 'Name' | 'Offer' | 'Image' | 'SSH keys' | 'Runs' | 'Drive';
  /** The value that a flag or the file gives. */
  readonly given: string | undefined;
  /** `before`: the flags of the earlier choice. */
  ask(before: CreateFlags): Promise<Answer>;
}

/** The questions in order. Flags override the file. */
export function stepsOf(
  { given: { flags }, dryRun, usableKeys }: Wish,
  { names, catalog, sshKeys, templates = [], drives = [] }: Lists,
  prompts: Prompts,
  context: Context,
): readonly Step[] {
  const { sshKey: keys, template, dockerImage: container, drive } = flags;
  const free = freeDrives(drives);
  const { dockerCommand, shmSize, port, env, envFile, volume } = flags;
  const parts = [dockerCommand, shmSize, port, env, envFile, volume];
  const isDescribed = parts.some((part) => part !== undefined);
  const isJob = usableKeys !== undefined;
  // An unreadable or empty list has no choices.
  const hasKeys = keys !== undefined || sshKeys !== undefined;
  const hasDrive = drive !== undefined || (free.length > 0 && !isJob);
  const keysStep: Step = {
    label: 'SSH keys',
    given: keys && (keys.join(', ') || 'none'),
    ask: (before) => askKeys(sshKeys ?? [], before, { dryRun, isNeeded: isJob }, prompts, context),
  };
  const driveStep: Step = {
    label: 'Drive',
    given: drive,
    ask: (before) => askDrive(free, before, prompts),
  };
  const runsStep: Step = {
    label: 'Runs',
    given: [template, container].filter(Boolean).join(' and ') || undefined,
    ask: (before) => (isDescribed ? askImage(prompts) : askRuns(templates, before, prompts)),
  };
  return [
    {
      label: 'Name',
      given: flags.name,
      ask: (before) => askName(names, before, prompts, () => context.clock.random()),
    },
    {
      label: 'Offer',
      given: flags.offer,
      ask: () => askHardware('offer', catalog.offer, prompts),
    },
    {
      label: 'Image',
      given: flags.image,
      ask: () => askHardware('image', catalog.image, prompts),
    },
    ...(hasKeys ? [keysStep] : []),
    ...(runsStep.given === undefined && isJob && !isDescribed ? [] : [runsStep]),
    ...(hasDrive ? [driveStep] : []),
  ];
}
