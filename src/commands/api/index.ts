import { type AnyCommand, Option } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { each } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import { callApi } from './call.ts';

const INPUT = 'inputFile';

/** Kept under a name of its own: `input` is that of the global `--no-input`. */
function inputOption(): Option {
  const option = new Option('--input <file>', 'send this JSON as the body; - for stdin');
  option.attributeName = () => INPUT;
  return option;
}

function fileIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** `gpucloud api`: a verb of the root. */
export function registerApi(command: AnyCommand, frame: Frame): void {
  describe(command, {
    completes: {
      method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      path: 'nothing',
      '--raw-field': 'nothing',
      '--field': 'field',
    },
    notes:
      'Prints what comes: as it is for another program, indented in a terminal and with --json, on one\n' +
      'line with -o jsonl. Secrets at documented places are masked unless --show-secrets is given.\n' +
      '--query looks into the whole answer, and with --paginate into the list of all pages.\n' +
      'Fields make a query for GET and beside --input, and a JSON body otherwise. Requests that rent a\n' +
      'machine are refused, since the journal would not know of it. The exit code is that of any command.',
    // An answer has no columns.
    refuses: ['--columns', '--sort'],
    examples: [
      'gpucloud api GET /users/me',
      'gpucloud api GET /billing/transactions -f type=DEPOSIT,BONUS --paginate',
      "gpucloud api GET /billing/transactions --query 'data[0].amount'",
      'gpucloud api POST /storage/drives -f name=data -F size_gb=500',
      'gpucloud api PATCH /users/me --input body.json --include',
      'gpucloud api POST /storage/drives/ID/resume --input - <<< "{}"',
    ],
  })
    .argument('<method>', 'GET, HEAD, POST, PUT, PATCH or DELETE')
    .argument('<path>', 'below the base URL, such as /users/me, with a query or without one')
    .option('-f, --raw-field <name=value>', 'a field with a string (again for more)', each)
    .option(
      '-F, --field <name=value>',
      'a field with a number, true, false, null, or @FILE for what is in it (again for more)',
      each,
    )
    .addOption(inputOption())
    .option('-i, --include', 'print the status and the headers first')
    .option('--paginate', 'ask for all pages and print one list of their data')
    .action((method, path, flags, own) =>
      callApi(
        {
          method,
          path,
          rawFields: flags.rawField ?? [],
          fields: flags.field ?? [],
          input: fileIn(own.getOptionValue(INPUT)),
          include: flags.include === true,
          paginate: flags.paginate === true,
        },
        frame.context(own),
      ),
    );
}
