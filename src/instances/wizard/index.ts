import type { Context } from '../../context.ts';
import { CliError, isInterrupt } from '../../errors.ts';
import type { Choice, Prompts } from '../../prompts/prompts.ts';
import { lockedKeyError } from '../../ssh-keys/private-half.ts';
import { numberedNames } from '../rental/count.ts';
import { checkGiven, keylessWarning, type MadeRequest, makeRequest } from '../request/body.ts';
import type { CreateFlags } from '../request/given.ts';
import { readLists } from './lists.ts';
import { type Answer, type Question, questionsFor } from './questions.ts';
import { moneyRows, printCommand, printRows, type Wish } from './summary.ts';

const NEXT: readonly Choice<'rent' | 'change' | 'leave'>[] = [
  { name: 'Yes, rent it now', value: 'rent' },
  { name: 'Change an answer', value: 'change' },
  { name: 'No, cancel', value: 'leave' },
];

/**
 * Asks for what is missing, shows the whole request and returns it once it is confirmed. A person who
 * cancels gets the command that continues from there.
 */
export async function askRequest(
  wish: Wish,
  prompts: Prompts,
  context: Context,
): Promise<MadeRequest> {
  const { given, isJob, dryRun, count } = wish;
  await context.out.prepare();
  await checkGiven(given, context);
  const read = await readLists(context);
  const mustSignIn = isJob && !wish.hasIdentity;
  if (mustSignIn && read.usable.size === 0 && read.locked !== undefined) {
    throw lockedKeyError(read.locked);
  }
  const sshKeys = mustSignIn ? read.sshKeys?.filter(({ id }) => read.usable.has(id)) : read.sshKeys;
  const lists = { ...read, sshKeys };
  const { flags } = given;
  const questions = questionsFor({ flags, lists, isJob, dryRun, count, prompts, context });
  const answers = new Map<Question, Answer>();
  let isCommandShown = false;

  /** The flags with the answers. */
  const answered = (flags: CreateFlags): CreateFlags =>
    Object.assign({}, flags, ...[...answers.values()].map((answer) => answer.flags));

  async function askAll(): Promise<void> {
    for (const question of questions) {
      if (question.given !== undefined) continue;
      answers.set(question, await question.ask(answers.get(question)));
      isCommandShown = false;
    }
  }

  function showCommand(): void {
    printCommand(answered({ ...given.typed, name: given.flags.name }), wish, prompts, context);
    isCommandShown = true;
  }

  function show(made: MadeRequest): void {
    const rows = questions.map((question) => ({
      label: question.label,
      text: answers.get(question)?.text ?? question.given ?? '',
    }));
    prompts.print('');
    prompts.print(dryRun ? 'This would be rented:' : 'You are about to rent:');
    if (count !== undefined) {
      const names = numberedNames(made.body.instance_name, count);
      rows.splice(1, 0, { label: 'Count', text: `${count}: ${span(names)}` });
    }
    printRows([...rows, ...moneyRows(made, wish, lists.balance, context)], prompts, context);
    const keyless = keylessWarning(made.body);
    if (keyless !== undefined) prompts.print(`Warning: ${keyless}`);
    prompts.print('');
    prompts.print('Equivalent command:');
    showCommand();
    prompts.print('');
  }

  try {
    for (;;) {
      await askAll();
      const made = await makeRequest({ ...given, flags: answered(given.flags) }, context);
      show(made);
      if (dryRun || context.flags.yes === true) return made;
      const next = await prompts.choose('Rent it?', NEXT);
      if (next === 'rent') return made;
      if (next === 'leave') throw new CliError('interrupted', 'Cancelled.');
    }
  } catch (error) {
    if (!isInterrupt(error)) throw error;
    const reason = error.failure === 'interrupted' ? 'Cancelled.' : error.message;
    const left = error.with(`${reason} Nothing was rented.`, { silent: true });
    prompts.print(left.message);
    if (answers.size > 0 && !isCommandShown) {
      prompts.print('To continue with your answers:');
      showCommand();
    }
    throw left;
  }
}

function span(names: readonly string[]): string {
  const [first = '', ...others] = names;
  const last = others.at(-1);
  return last === undefined ? first : `${first} to ${last}`;
}
