// Draws docs/images/*.svg by running the program in a pty with a headless terminal and a new
// sandbox. `npm run picture` draws them again.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn } from '@lydell/node-pty';
import headless from '@xterm/headless';

const COLUMNS = 100;
const ROWS = 60;
const PROGRAM = fileURLToPath(new URL('../bin/gpucloud.js', import.meta.url));
const FOLDER = fileURLToPath(new URL('../docs/images/', import.meta.url));

/** Hidden in the picture: ssh looks for keys only in the real home folder. */
const IDENTITY = ['--identity', '.ssh/id_ed25519'];
const HARDWARE = ['--offer', 'rtx-4090', '--image', 'ubuntu-22-04'];
/** The commands typed before each picture, and the commands shown in it. */
const PICTURES = {
  rental: {
    before: [
      ['sandbox', 'reset', '--yes'],
      ['ssh-keys', 'add', '.ssh/id_ed25519.pub'],
    ],
    seen: [
      ['instances', 'create', 'trainer', ...HARDWARE, '--ssh-key', 'laptop', '--wait'],
      ['instances', 'ssh', 'trainer', ...IDENTITY, 'nvidia-smi', '-L'],
      ['instances', 'terminate', 'trainer'],
    ],
  },
};

/** The keys typed at a confirmation. */
const YES = 'y\r';

const home = mkdtempSync(join(tmpdir(), 'gpucloud-picture-'));
mkdirSync(join(home, '.ssh'), { mode: 0o700 });
const key = join(home, '.ssh', 'id_ed25519');
execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'laptop', '-f', key]);
const env = {
  PATH: process.env.PATH,
  HOME: home,
  TERM: 'xterm-256color',
  LANG: 'C.UTF-8',
  GPUCLOUD_PROFILE: 'sandbox',
};

function prepare(argv) {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...argv], { env, cwd: home });
  if (status !== 0) throw new Error(`gpucloud ${argv.join(' ')} ended with ${status}: ${stderr}`);
}

/** Runs the program in a pty until it exits, and shows its output in the terminal. */
async function show(argv, terminal) {
  const line = `gpucloud ${argv.filter((word) => !IDENTITY.includes(word)).join(' ')}`;
  await written(terminal, `\x1b[32m$\x1b[0m \x1b[1m${line}\x1b[0m\r\n`);
  const program = spawn(process.execPath, [PROGRAM, ...argv], {
    cols: COLUMNS,
    rows: ROWS,
    cwd: home,
    env,
  });
  let isAnswered = false;
  program.onData((text) => {
    // Hides the folder's name, which changes with each run.
    terminal.write(text.replaceAll(home, '~'));
    if (!isAnswered && text.includes('(y/N)')) program.write(YES);
    isAnswered ||= text.includes('(y/N)');
  });
  const { exitCode } = await new Promise((resolve) => program.onExit(resolve));
  if (exitCode !== 0) throw new Error(`${line} ended with ${exitCode}`);
  await written(terminal, '\r\n');
}

function written(terminal, text) {
  return new Promise((resolve) => terminal.write(text, resolve));
}

const CELL = { width: 8.4, height: 18 };
const PAD = 16;
const INK = '#d8dee9';
const PAPER = '#1d2129';
const ANSI = [
  '#3b4252',
  '#e06c75',
  '#98c379',
  '#e5c07b',
  '#61afef',
  '#c678dd',
  '#56b6c2',
  '#d8dee9',
];
const BRIGHT = [
  '#7f8796',
  '#f08a92',
  '#b5e08f',
  '#f5d595',
  '#82c4ff',
  '#d79bea',
  '#7fd6e0',
  '#ffffff',
];

/** Returns a theme colour, a colour of the cube, a grey or an RGB colour. */
function colourOf(cell) {
  const number = cell.getFgColor();
  if (cell.isFgRGB()) return `#${number.toString(16).padStart(6, '0')}`;
  if (!cell.isFgPalette()) return INK;
  if (number < 16) return [...ANSI, ...BRIGHT][number];
  if (number >= 232) return rgb([1, 1, 1].map((part) => part * (8 + 10 * (number - 232))));
  const at = number - 16;
  return rgb([Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((step) => CUBE[step]));
}

const CUBE = [0, 95, 135, 175, 215, 255];

function rgb(parts) {
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

const escaped = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Places runs of one style by column, so that a different font can't shift them. */
function lineOf(line, row) {
  const runs = [];
  for (let column = 0; column < line.length; column += 1) {
    const cell = line.getCell(column);
    const text = cell.getChars() || ' ';
    if (cell.getWidth() === 0) continue;
    const look = `fill="${colourOf(cell)}"${cell.isBold() ? ' font-weight="bold"' : ''}${cell.isDim() ? ' opacity="0.65"' : ''}`;
    const last = runs.at(-1);
    if (last?.look === look) last.text += text;
    else runs.push({ column, text, look });
  }
  return runs
    .map((run) => ({ ...run, text: run.text.trimEnd() }))
    .filter(({ text }) => text !== '')
    .map(({ column, text, look }) => {
      const x = (PAD + column * CELL.width).toFixed(1);
      const width = ([...text].length * CELL.width).toFixed(1);
      return `<text x="${x}" y="${PAD + 28 + row * CELL.height}" textLength="${width}" ${look}>${escaped(text)}</text>`;
    })
    .join('\n');
}

function pictureOf(buffer) {
  const lines = Array.from({ length: buffer.length }, (_, at) => buffer.getLine(at));
  while (lines.at(-1)?.translateToString(true).trim() === '') lines.pop();
  const width = Math.ceil(COLUMNS * CELL.width + 2 * PAD);
  const height = Math.ceil(lines.length * CELL.height + 2 * PAD + 18);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>gpucloud in a terminal</title>
<rect width="${width}" height="${height}" rx="8" fill="${PAPER}"/>
<circle cx="20" cy="17" r="5" fill="#e06c75"/><circle cx="37" cy="17" r="5" fill="#e5c07b"/><circle cx="54" cy="17" r="5" fill="#98c379"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" xml:space="preserve">
${lines.map(lineOf).filter(Boolean).join('\n')}
</g>
</svg>
`;
}

try {
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, { before, seen }] of Object.entries(PICTURES)) {
    for (const argv of before) prepare(argv);
    const terminal = new headless.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
    for (const argv of seen) await show(argv, terminal);
    writeFileSync(join(FOLDER, `${name}.svg`), pictureOf(terminal.buffer.active));
    console.log(`docs/images/${name}.svg`);
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
