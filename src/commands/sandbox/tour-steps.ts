/** A step of the tour: a lesson and the command that demonstrates it. */
export interface TourStep {
  readonly title: string;
  /** Lines to show before the command. */
  readonly words: readonly string[];
  /** The command. {@link FOLDER} stands for the tour's own folder. */
  readonly argv: readonly string[];
  /**
   * True for a step that needs ssh, false for its replacement without ssh. JSON mode never uses
   * ssh, since the output of a remote command is not JSON.
   */
  readonly ssh?: boolean;
}

export const FOLDER = '$TOUR';
/** The private key made for the tour. */
export const KEY = `${FOLDER}/key`;
/** Folder for the job to copy to the instance and back. */
export const JOB = `${FOLDER}/job`;
export const INPUT = 'input.txt';
const OUTPUT = 'output.txt';

const BOX = 'my-box';

const CREATE = ['instances', 'create', BOX, '--offer', 'rtx-4090', '--image', 'ubuntu-22-04'];
const RENT = {
  title: 'Rent an instance',
  words: [
    'The service reserves the price of one hour, then charges each hour as it passes.',
    '--wait waits until the instance is active.',
  ],
};

/** A whole rental in order: rent, connect, spend, stop. */
const TOUR: readonly TourStep[] = [
  {
    title: 'List offers and images',
    words: [
      'An offer is hardware with a price per hour. An image is its operating system.',
      'The real service lists them in the web console.',
    ],
    argv: ['sandbox', 'catalog'],
  },
  {
    title: 'Add an SSH key',
    words: ['The tour has created a key. An instance accepts only the keys it was created with.'],
    argv: ['ssh-keys', 'add', `${KEY}.pub`, '--name', 'tour'],
    ssh: true,
  },
  { ...RENT, argv: [...CREATE, '--ssh-key', 'tour', '--wait'], ssh: true },
  { ...RENT, argv: [...CREATE, '--no-ssh-key', '--wait'], ssh: false },
  {
    title: 'Connect',
    words: ['Your ssh connects to the instance. Without a command, it opens a shell.'],
    argv: ['instances', 'ssh', BOX, '--identity', KEY, '--', 'nvidia-smi'],
    ssh: true,
  },
  {
    title: 'Connect',
    words: [
      'Your ssh connects to an instance with a key that you added to the account.',
      '--print shows the command without running it.',
    ],
    argv: ['instances', 'ssh', BOX, '--print'],
    ssh: false,
  },
  {
    title: 'Let three hours pass',
    words: ['In the sandbox you can move the clock forward.'],
    argv: ['sandbox', 'advance', '3h'],
  },
  {
    title: 'Show instances and costs',
    words: [
      'gpucloud records each request before sending it, so no instance is lost.',
      'status shows all instances with their current cost.',
    ],
    argv: ['status'],
  },
  {
    title: 'Show spending',
    words: ['Each hour is a separate charge, taken from your balance in roubles.'],
    argv: ['billing', 'spend'],
  },
  {
    title: 'Terminate the instance',
    words: [
      'An instance bills until you terminate it, even if you do not use it.',
      'terminate deletes its disk. It asks first, unless --yes is given.',
    ],
    argv: ['instances', 'terminate', BOX, '--yes', '--wait'],
  },
  {
    title: 'Run a whole job',
    words: [
      'run rents an instance, copies a folder to it, runs a command, copies the result back and terminates.',
      `${INPUT} contains "hello". The command writes it in capitals to ${OUTPUT} and prints it.`,
    ],
    argv: [
      ...['run', '--offer', 'rtx-4090', '--image', 'ubuntu-22-04', '--ssh-key', 'tour'],
      ...['--identity', KEY, '--terminate-after', '1h', '--unenforced'],
      ...['--sync', JOB, '--fetch', `${OUTPUT}:${JOB}`],
      ...['--', 'sh', '-c', `tr a-z A-Z < ${INPUT} | tee ${OUTPUT}`],
    ],
    ssh: true,
  },
  {
    title: 'Check the balance',
    words: ['Nothing is billing now.'],
    argv: ['billing', 'balance'],
  },
];

/** Returns the steps for a computer with or without ssh. */
export function stepsWith(hasSsh: boolean): readonly TourStep[] {
  return TOUR.filter(({ ssh = hasSsh }) => ssh === hasSsh);
}
